/* more.js -- what the viewer loads after the first picture, or when it is wanted: see viewer.js. */
import { Large } from "./large.js";

globalThis.taper_more({ Large });
