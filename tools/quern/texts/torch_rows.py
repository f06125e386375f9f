"""The rows of `quern bench tensor` by PyTorch: torch_rows.py DEVICE ELEMENTS SMALL SECONDS ROW...
Prints for each row and way (torch, torch graph, torch compile): row TAB way TAB nanoseconds TAB bytes."""
import math
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

device, elements, small, seconds = sys.argv[1], int(sys.argv[2]), sys.argv[3] != "0", float(sys.argv[4])
asked = sys.argv[5:]
is_cuda = device == "cuda"
torch.manual_seed(7)
torch.set_float32_matmul_precision("highest")


def wait():
    if is_cuda:
        torch.cuda.synchronize()


def sample(run, count):
    if is_cuda:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(count):
            run()
        end.record()
        wait()
        return begin.elapsed_time(end) * 1e6 / count
    begin = time.perf_counter_ns()
    for _ in range(count):
        run()
    return (time.perf_counter_ns() - begin) / count


def measure(run):
    for _ in range(3):
        run()
    wait()
    one = sample(run, 1)
    count = max(1, min(4096, int(2e6 / max(one, 1))))
    begin, samples = time.perf_counter(), []
    while len(samples) < 3 or (time.perf_counter() - begin < seconds and len(samples) < 300):
        samples.append(sample(run, count))
    return statistics.median(samples)


def most_bytes():
    return torch.cuda.max_memory_reserved() if is_cuda else 0


def fresh():
    if is_cuda:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def tell(row, way, ns):
    print("%s\t%s\t%.1f\t%d" % (row, way, ns, most_bytes()), flush=True)


def as_graph(run):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def each_way(row, run, compiled=None, graph=True):
    """`compiled`: what to run instead where the work is compiled, made when it is wanted."""
    fresh()
    tell(row, "torch", measure(run))
    if is_cuda and graph:
        fresh()
        try:
            tell(row, "torch graph", measure(as_graph(run)))
        except Exception as failure:  # a way that cannot be is no result
            print("%s as a graph: %s" % (row, str(failure).splitlines()[0]), flush=True)
    if compiled and hasattr(torch, "compile"):
        fresh()
        try:
            tell(row, "torch compile", measure(compiled()))
        except Exception as failure:
            print("%s compiled: %s" % (row, str(failure).splitlines()[0]), flush=True)


def operands():
    columns = 64 if elements < 4 * 4096 else 4096
    rows = max(1, elements // columns)
    x = torch.rand(rows, columns, device=device) * 4 - 2
    y = torch.rand(rows, columns, device=device) * 2 - 1
    return x, y


def rows_of(function):
    def measured(row):
        x, y = operands()
        faster = lambda: (lambda f: lambda: f(x, y))(torch.compile(function))
        each_way(row, lambda: function(x, y), faster, graph=False)
    return measured


def op_at_once(row):
    x = torch.arange(64, dtype=torch.float32, device=device)
    for _ in range(1000):
        x + 1
    wait()
    samples = []
    for _ in range(20):
        begin = time.perf_counter_ns()
        for _ in range(1000):
            x + 1
        samples.append((time.perf_counter_ns() - begin) / 1000)
        wait()
    tell(row, "torch", statistics.median(samples))


def training(row, model, loss_of, updates=True, cast=None):
    def make():
        made = model().to(device)
        if cast == torch.float16:
            made = made.to(memory_format=torch.channels_last)
        optimizer = torch.optim.Adam(made.parameters(), lr=1e-3, fused=is_cuda, capturable=is_cuda) if updates else None
        return made, optimizer

    def stepper(net, parameters, optimizer):
        def step():
            if optimizer:
                optimizer.zero_grad(set_to_none=True)
            else:
                for p in parameters:
                    p.grad = None
            if cast:
                with torch.autocast(device, dtype=cast if is_cuda else torch.bfloat16):
                    loss = loss_of(net)
            else:
                loss = loss_of(net)
            loss.backward()
            if optimizer:
                optimizer.step()
        return step

    made, optimizer = make()
    step = stepper(made, list(made.parameters()), optimizer)

    def compiled():
        net, its = make()
        return stepper(torch.compile(net), list(net.parameters()), its)
    each_way(row, step, compiled)


def mlp(batch):
    def measured(row):
        x = torch.rand(batch, 784, device=device)
        labels = torch.randint(0, 10, (batch,), device=device)
        model = lambda: nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
        training(row, model, lambda net: F.cross_entropy(net(x), labels))
    return measured


def digits(row):
    x, labels = torch.rand(64, 1, 8, 8, device=device), torch.randint(0, 10, (64,), device=device)
    model = lambda: nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10))
    training(row, model, lambda net: F.cross_entropy(net(x), labels))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.c_fc, self.c_out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, self.heads, c // self.heads).transpose(1, 2) for z in self.c_attn(self.ln_1(x)).split(c, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).reshape(b, t, c))
        return x + self.c_out(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, words, length, width, heads, blocks):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(blocks))
        self.ln_f = nn.LayerNorm(width)
        for p in (self.wte.weight, self.wpe.weight):
            nn.init.normal_(p, std=0.02)

    def forward(self, words, targets):
        x = self.wte(words) + self.wpe.weight
        for block in self.blocks:
            x = block(x)
        scores = F.linear(self.ln_f(x), self.wte.weight)
        return F.cross_entropy(scores.flatten(0, 1), targets.flatten())


def gpt(row):
    words, length, width, heads, blocks, batch = (256, 32, 64, 4, 2, 2) if small else (50304, 1024, 768, 12, 12, 8)
    inputs, targets = (torch.randint(0, words, (batch, length), device=device) for _ in range(2))
    training(row, lambda: Gpt(words, length, width, heads, blocks), lambda net: net(inputs, targets), cast=torch.bfloat16)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.aside = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)) if stride == 2 else nn.Identity()

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.aside(x))


def resnet(row):
    side, width, batch = (32, 8, 4) if small else (224, 64, 64)

    def model():
        blocks = [Residual((width << i // 2) // (2 if i % 2 == 0 and i else 1), width << i // 2, 2 if i % 2 == 0 and i else 1) for i in range(8)]
        return nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
                             *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width * 8, 1000))

    images = torch.rand(batch, 3, side, side, device=device).to(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (batch,), device=device)
    training(row, model, lambda net: F.cross_entropy(net(images), labels), updates=False, cast=torch.float16)


rows = {
    "gelu(x*y+1)*y": rows_of(lambda x, y: F.gelu(x * y + 1) * y),
    "transpose+1": rows_of(lambda x, y: (x.view(x.shape[1], -1).t() + 1).contiguous()),
    "softmax": rows_of(lambda x, y: torch.softmax(x, -1)),
    "layer norm": rows_of(lambda x, y: F.layer_norm(x, x.shape[-1:])),
    "op at once, on the host": op_at_once,
    "mlp of 64": mlp(64),
    "mlp of 1024": mlp(1024),
    "digits of 64": digits,
    "gpt-2 step": gpt,
    "resnet-18 forward, backward": resnet,
}
for row in asked:
    if row in rows:
        rows[row](row)
