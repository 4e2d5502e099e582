/* A photograph and its cuts: two pictures in one place with a line between them that the pointer moves. Without this
   script the pictures stand side by side. */
const make = (kind, name, text) => {
  const e = document.createElement(kind);
  if (name) e.className = name;
  if (text) e.textContent = text;
  return e;
};
const press = (b, is) => b.setAttribute("aria-pressed", String(is));
function bar(words, choices, act) {
  const row = make("div", "bar");
  row.append(make("span", "", words));
  const buttons = choices.map(([text, value]) => {
    const b = make("button", "", text);
    b.type = "button";
    b.onclick = () => { for (const o of buttons) press(o, o === b); act(value); };
    row.append(b);
    return b;
  });
  return [row, buttons];
}
function view(photo) {
  const figures = [...photo.querySelectorAll("figure[data-by]")];
  const by = [...new Set(figures.map(f => f.dataset.by))], cuts = [...new Set(figures.map(f => f.dataset.cut))].filter(c => c);
  const find = name => figures.find(f => f.dataset.by === name && (!f.dataset.cut || f.dataset.cut === cut));
  const size = c => figures.find(f => f.dataset.by === "taper" && f.dataset.cut === c).querySelector("b").textContent;
  const side = ["taper", by[2] || by[1]], middle = cuts.length >> 1;
  const has = c => figures.some(f => f.dataset.by === side[1] && f.dataset.cut === c && f.querySelector(".pic"));
  let cut = cuts.slice(middle).find(has) || cuts[middle], at = .5, zoom = 1;
  const stage = make("div", "stage"), inner = make("div", "inner"), line = make("i"), said = make("div", "said");
  const range = make("input");
  range.type = "range", range.max = 1000, range.value = 500, range.setAttribute("aria-label", "line between the pictures");
  stage.append(inner);

  function place() {
    const x = (stage.scrollLeft + at * stage.clientWidth) / (stage.clientWidth * zoom) * 100;
    line.style.left = x + "%";
    if (inner.children[1]) inner.children[1].style.clipPath = `inset(0 ${100 - x}% 0 0)`; // the left one is on top
    range.value = at * 1000;
  }
  const picture = name => find(name).querySelector(".pic, .none").cloneNode(true);
  function words(name) {
    const caption = find(name).querySelector("figcaption, .none"), to = make("span");
    const parts = [...caption.childNodes].map(n => n.textContent);
    to.append(make("b", "", name + " "), parts.filter(t => t && t !== name).join(", "));
    return to;
  }
  function show() {
    const [left, right] = side.map(picture);
    left.classList.add("left");
    inner.replaceChildren(right, left, line);
    said.replaceChildren(...side.map(words));
    place();
  }
  function enlarge(to) {
    const x = (stage.scrollLeft + stage.clientWidth / 2) / zoom, y = (stage.scrollTop + stage.clientHeight / 2) / zoom;
    stage.style.height = to > 1 ? stage.clientHeight + "px" : "";
    zoom = to, inner.style.width = 100 * to + "%", stage.style.touchAction = to > 1 ? "auto" : "pan-y";
    stage.scrollTo(x * zoom - stage.clientWidth / 2, y * zoom - stage.clientHeight / 2);
    place();
  }
  const swipe = e => {
    if (e.pointerType !== "mouse" && zoom > 1) return;
    at = Math.max(0, Math.min(1, (e.clientX - stage.getBoundingClientRect().left) / stage.clientWidth));
    place();
  };
  stage.addEventListener("pointermove", swipe);
  stage.addEventListener("pointerdown", swipe);
  stage.addEventListener("scroll", place);
  range.oninput = () => { at = range.value / 1000; place(); };

  const [top, buttons] = bar("cut at", cuts.map(c => [size(c), c]), c => { cut = c; show(); });
  const [bottom, zooms] = bar("zoom", [["fit", 1], ["2\u00d7", 2], ["4\u00d7", 4]], enlarge);
  side.forEach((name, k) => {
    const choice = make("select");
    choice.setAttribute("aria-label", k ? "picture on the right" : "picture on the left");
    for (const n of by) choice.append(new Option(n, n, false, n === name));
    choice.onchange = () => { side[k] = choice.value; show(); };
    bottom.prepend(choice);
  });
  bottom.insertBefore(bottom.children[1], bottom.children[0]);
  press(buttons[cuts.indexOf(cut)], true), press(zooms[0], true);
  const all = photo.querySelector("details");
  all.open = false;
  all.before(top, stage, range, said, bottom);
  show();
}
for (const photo of document.querySelectorAll(".photo")) view(photo);
