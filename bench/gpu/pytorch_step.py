#!/usr/bin/env python3
"""A training step of taper's autoencoders in PyTorch: what `speed/train-step` is held against.

    python3 bench/gpu/pytorch_step.py [--device cuda|cpu] [--batch 10000] [--widths 3072,1024 ...]
                                      [--steps 30]

The same model, batch and precision as `taper train-bits --code units --untied --batch 10000`: rows of bytes that
lie on the device are gathered and centred; an encoder with ReLU between its layers, and its mirror, none of
whose weights are tied; nested dropout, a length drawn for every row; the mean squared error; Adam. In float32,
TF32 and bfloat16 (autocast, weights in float32), each eager, by torch.compile, and as a CUDA graph. Prints JSON
lines: the median time of a step of each, and the best of a network and precision. What cannot run here is
named in a line "skip: ...". Needs torch and nothing else. BENCH_DEVICE, TAPER_COMMIT and TAPER_MACHINE say
what stands in config.device, commit and machine.
"""
import argparse
import contextlib
import json
import os
import platform
import statistics
import sys
import time

try:
    import torch
except ImportError as why:
    print(f"skip: pytorch: {why}")
    sys.exit(0)

PRECISIONS = ("float32", "tf32", "bf16")


def say(metric, value, config):
    print(json.dumps({"bench": "speed/pytorch", "metric": metric, "value": round(value, 5), "unit": "ms",
                      "config": config, "commit": os.environ.get("TAPER_COMMIT", ""),
                      "machine": os.environ.get("TAPER_MACHINE", platform.processor() or platform.machine()),
                      "command": " ".join(["pytorch_step.py"] + sys.argv[1:])}), flush=True)


def autoencoder(widths):
    """Encoder and decoder, ReLU between layers alone."""
    def stack(sizes):
        layers = []
        for i, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
            layers += [torch.nn.Linear(inputs, outputs)] + [torch.nn.ReLU()] * (i + 2 < len(sizes))
        return torch.nn.Sequential(*layers)
    return stack(widths), stack(widths[::-1])


class Training:
    """A network, its data, and what a step does."""

    def __init__(self, widths, batch, device, precision):
        torch.manual_seed(1)
        self.batch, self.device = batch, device
        self.encoder, self.decoder = (part.to(device) for part in autoencoder(widths))
        self.parameters = [*self.encoder.parameters(), *self.decoder.parameters()]
        self.pixels = torch.randint(0, 256, (5 * batch, widths[0]), dtype=torch.uint8, device=device)
        self.mean = self.pixels[:batch].float().mean(0)
        self.units = torch.arange(widths[-1], device=device)
        self.order = torch.randperm(5 * batch, device=device)[:batch]
        self.precision = precision
        on_gpu = device == "cuda"
        self.adam = torch.optim.Adam(self.parameters, lr=1e-3, **({"fused": True, "capturable": True} if on_gpu else {}))

    def rounded(self):
        return (torch.autocast(self.device, dtype=torch.bfloat16) if self.precision == "bf16"
                else contextlib.nullcontext())

    def loss(self):
        x = (self.pixels[self.order].float() - self.mean) * 0.016
        kept = torch.randint(1, len(self.units) + 1, (self.batch, 1), device=self.device)
        with self.rounded():
            code = self.encoder(x) * (self.units < kept)
            return torch.nn.functional.mse_loss(self.decoder(code).float(), x)

    def step(self):
        self.adam.zero_grad(set_to_none=True)
        loss = self.loss()
        loss.backward()
        self.adam.step()


def median_time(step, steps, device):
    """Milliseconds."""
    for _ in range(3):
        step()
    times = []
    for _ in range(steps):
        if device == "cuda":
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            step()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end))
        else:
            begin = time.perf_counter()
            step()
            times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def eager(training):
    return training.step


def compiled(training):
    if not hasattr(torch, "compile"):
        raise RuntimeError(f"torch {torch.__version__} has no torch.compile")
    training.loss = torch.compile(training.loss)
    return training.step


def graph(training):
    if training.device != "cuda":
        raise RuntimeError("CUDA graphs want a GPU")
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            training.step()
    torch.cuda.current_stream().wait_stream(aside)
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        training.step()
    return recorded.replay


def compiled_graph(training):
    compiled(training)
    return graph(training)


def measure(widths, precision, arguments):
    network = "-".join(map(str, widths + widths[-2::-1]))
    config = {"device": os.environ.get("BENCH_DEVICE", arguments.device), "network": network, "precision": precision,
              "batch": arguments.batch, "torch": torch.__version__}
    times = []
    for name, variant in (("eager", eager), ("compile", compiled), ("graph", graph),
                          ("compile, graph", compiled_graph)):
        try:
            if precision == "tf32" and arguments.device != "cuda":
                raise RuntimeError("TF32 wants a GPU")
            torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
            step = variant(Training(widths, arguments.batch, arguments.device, precision))
            times.append(median_time(step, arguments.steps, arguments.device))
            say("step", times[-1], dict(config, variant=name))
        except Exception as why:  # another version of torch may refuse: the others count
            print(f"skip: pytorch: {network}, {precision}, {name}: {str(why).splitlines()[0]}", flush=True)
        if arguments.device == "cuda":
            torch.cuda.empty_cache()
    if times:
        say("best", min(times), config)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--batch", type=int, default=10000)
    parser.add_argument("--widths", nargs="*", default=["3072,1024", "3072,2048,1024,512"])
    parser.add_argument("--steps", type=int, default=30)
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        print(f"skip: pytorch: torch {torch.__version__} finds no GPU")
        return
    for widths in arguments.widths:
        for precision in PRECISIONS:
            measure([int(width) for width in widths.split(",")], precision, arguments)


main()
