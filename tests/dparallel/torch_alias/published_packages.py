"""What test_published_packages.py runs twice, with PyTorch and with this library as torch: `published_packages.py PACKAGE FILE`.

Each case is a function of torch that returns {name: array}. Weights are drawn by NumPy, so that both runs have the same ones.
"""

import os
import sys
import tempfile
import warnings

import numpy as np
import torch
from torch import nn

warnings.simplefilter("ignore")
os.environ["HF_HUB_OFFLINE"] = "1"
FOLDER = tempfile.mkdtemp()
KEPT = []


def drawn(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


def integers(high, *shape, low=3, seed=1):
    return torch.from_numpy(np.random.default_rng(seed).integers(low, high, shape))


def same_weights(model):
    """The model in float64, with values that depend on a tensor's place alone; those of norms stay positive."""
    model = model.double()
    for number, value in enumerate(model.state_dict().values()):
        if value.is_floating_point():
            noise = np.random.default_rng(number).standard_normal(tuple(value.shape))
            value.copy_(torch.from_numpy(1 + 0.1 * np.tanh(noise) if value.ndim < 2 else noise / max(1, noise[0].size) ** 0.5))
    return model


def trained(model, inputs, steps=3):
    """The loss and first gradients of some steps of AdamW."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
    found = {}
    for step in range(steps):
        loss = model(**inputs).loss
        loss.backward()
        found[f"loss {step}"] = loss.detach().numpy()
        if step == 0:
            found.update({name: p.grad.numpy().copy() for name, p in model.named_parameters() if p.grad is not None})
        optimizer.step()
        optimizer.zero_grad()
    return found


def transformers():
    import transformers as t
    small = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16, "intermediate_size": 32}
    still = {"hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0}
    ids, labels, images = integers(90, 2, 9), integers(90, 2, 9, seed=2), drawn(2, 3, 16, 16)
    mask = torch.ones(2, 9, dtype=torch.long)
    mask[1, 6:] = 0
    text = {"input_ids": ids, "attention_mask": mask, "labels": labels}
    gpt2 = t.GPT2Config(vocab_size=99, n_embd=16, n_layer=2, n_head=2, n_positions=32, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, eos_token_id=2)
    t5 = t.T5Config(vocab_size=99, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, dropout_rate=0, decoder_start_token_id=0)
    cases = {
        "BERT": (t.BertForMaskedLM(t.BertConfig(vocab_size=99, **small, **still)), text),
        "GPT-2": (t.GPT2LMHeadModel(gpt2), text),
        "Llama": (t.LlamaForCausalLM(t.LlamaConfig(vocab_size=99, num_key_value_heads=1, **small)), text),
        "ViT": (t.ViTForImageClassification(t.ViTConfig(image_size=16, patch_size=4, num_labels=4, **small, **still)),
                {"pixel_values": images, "labels": torch.tensor([1, 3])}),
        "T5": (t.T5ForConditionalGeneration(t5), {"input_ids": ids, "labels": labels})}
    found = {}
    for name, (model, inputs) in cases.items():
        model = same_weights(model).train()
        found.update({f"{name} {key}": value for key, value in trained(model, inputs).items()})
        if name in ("GPT-2", "T5"):
            found[f"{name} generated"] = model.eval().generate(ids, max_new_tokens=4, do_sample=False).numpy()
    return found


def timm():
    import timm as t
    found = {}
    names = ("resnet10t mobilenetv3_small_050 vit_tiny_patch16_224 convnext_atto regnetx_002 ghostnet_050 ese_vovnet19b_slim_dw "
             "mobilevit_xxs test_byobnet test_mambaout test_vit_relpos starnet_s050 test_nfnet cs3darknet_focus_s cspnext_tiny dla46x_c "
             "efficientformerv2_s0 efficientnet_lite0 efficientvim_m1 fasternet_t0 gmlp_ti16_224 hardcorenas_b lcnetv2_small "
             "cpubone_nano efficientvit_m0 hgnetv2_b0 fastvit_t8 rexnet_100 coatnet_pico_rw_224 gcvit_xxtiny levit_128s visformer_tiny")
    for name in names.split():                       # one model of a family
        try:
            model = t.create_model(name, num_classes=3, img_size=64)
        except TypeError:                            # its size is not one of the weights
            model = t.create_model(name, num_classes=3)
        model = same_weights(model).eval()
        y = model(drawn(2, 3, 64, 64))
        y = sum(y) if isinstance(y, tuple) else y
        (y * torch.arange(6.0).reshape(2, 3)).sum().backward()
        found[name] = y.detach().numpy()
        found.update({f"{name} {key}": p.grad.numpy() for key, p in model.named_parameters() if p.grad is not None})
    return found


def torchmetrics():
    import torchmetrics as m
    from torchmetrics import classification as c
    p, y = torch.softmax(drawn(20, 5), 1), integers(5, 20, low=0)
    a, b = drawn(20), drawn(20, seed=3)
    images = torch.sigmoid(drawn(2, 3, 32, 32)), torch.sigmoid(drawn(2, 3, 32, 32, seed=4))
    names = ("Accuracy AUROC AveragePrecision CohenKappa ConfusionMatrix F1Score JaccardIndex MatthewsCorrCoef Precision Recall "
             "Specificity StatScores CalibrationError HammingDistance HingeLoss").split()
    cases = [(getattr(c, f"Multiclass{name}")(num_classes=5), (p, y)) for name in names]
    cases += [(c.BinaryAUROC(), (p[:, 0], y % 2)), (c.MultilabelF1Score(num_labels=5), (p, (drawn(20, 5) > 0).long()))]
    cases += [(getattr(m, name)(), (a, b)) for name in (
        "MeanSquaredError MeanAbsoluteError R2Score PearsonCorrCoef SpearmanCorrCoef ExplainedVariance LogCoshError").split()]
    cases += [(m.MeanMetric(), (a,)), (m.PeakSignalNoiseRatio(data_range=1.0), images), (m.CosineSimilarity(), (p, p * p)),
              (m.StructuralSimilarityIndexMeasure(data_range=1.0), images), (m.RetrievalMAP(), (a, y > 2, y % 3)),
              (m.text.CharErrorRate(), (["hello their world"], ["hello there world"]))]
    found = {}
    for metric, arguments in cases:
        for part in (slice(None, 10), slice(10, None)) if len(arguments[0]) == 20 else (slice(None),):
            metric.update(*[x[part] for x in arguments])
        found[type(metric).__name__] = np.asarray(metric.compute())
    return found


def torchinfo():
    from torchinfo import summary
    convolutions = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 2))
    columns = ("input_size", "output_size", "num_params", "kernel_size", "mult_adds", "trainable")
    texts = [summary(convolutions, (1, 3, 8, 8), verbose=0, col_names=columns),
             summary(nn.LSTM(3, 4, 2, batch_first=True), (2, 5, 3), verbose=0),
             summary(nn.TransformerEncoderLayer(8, 2, 16), (5, 2, 8), verbose=0, depth=3)]
    return {"text": np.array([str(text) for text in texts])}


def safetensors():
    from safetensors import safe_open
    from safetensors.torch import load, load_file, load_model, save, save_file, save_model
    tensors = {"a": drawn(2, 3), "i": integers(9, 4), "h": drawn(3).half(), "b": drawn(3) > 0, "n": drawn(2).bfloat16()}
    file = os.path.join(FOLDER, "file")
    save_file(tensors, file, {"key": "value"})
    found = {name: value.float().numpy() for name, value in load_file(file).items()}
    with safe_open(file, framework="pt") as opened:
        found["slice"] = opened.get_slice("a")[:, 1:].numpy()
        assert opened.metadata() == {"key": "value"}
    found["bytes"] = np.frombuffer(save({"x": tensors["a"]}), np.uint8)
    found["loaded"] = load(save(tensors))["h"].numpy()
    model, other = (same_weights(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))) for _ in range(2))
    for net in (model, other):
        net[1].weight = net[0].weight
    model(drawn(1, 2)).sum().backward()
    torch.optim.AdamW(model.parameters()).step()
    save_model(model, file)
    assert load_model(other, file) == (set(), [])
    found.update({f"model {name}": value.numpy() for name, value in other.state_dict().items()})
    return found


def steps_of(model):
    """A loader for a model with 3 inputs and 2 classes."""
    data = torch.utils.data.TensorDataset(drawn(24, 3), integers(2, 24, low=0))
    return same_weights(model), torch.utils.data.DataLoader(data, batch_size=4)


def accelerate():
    from accelerate import Accelerator
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    model, loader = steps_of(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    losses = []
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    accelerator.save_state(FOLDER)
    before = {name: value.clone().numpy() for name, value in model.state_dict().items()}
    with torch.no_grad():
        next(model.parameters()).zero_()
    accelerator.load_state(FOLDER)
    assert all(np.array_equal(before[name], value) for name, value in model.state_dict().items())
    return {"losses": np.array(losses), "gathered": accelerator.gather_for_metrics(drawn(3)).numpy(), **before}


def ignite():
    from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
    from ignite.handlers import ModelCheckpoint
    from ignite.metrics import Accuracy, Loss
    model, loader = steps_of(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
    loss = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    trainer = create_supervised_trainer(model, optimizer, loss)
    evaluator = create_supervised_evaluator(model, metrics={"accuracy": Accuracy(), "loss": Loss(loss)})
    found = []
    trainer.add_event_handler(Events.EPOCH_COMPLETED, ModelCheckpoint(FOLDER, "x", n_saved=1, require_empty=False),
                              {"model": model, "optimizer": optimizer})

    @trainer.on(Events.EPOCH_COMPLETED)
    def evaluate():
        evaluator.run(loader)
        found.append([evaluator.state.metrics["accuracy"], evaluator.state.metrics["loss"]])

    trainer.run(loader, max_epochs=3)
    assert any(name.startswith("x_") for name in os.listdir(FOLDER))
    return {"metrics": np.array(found)}


def let_pytorch_import_torchvision():
    """Where the library in torchvision was built for another PyTorch, torchvision fails for lack of two of its operators."""
    try:
        import torchvision  # noqa: F401
    except ImportError:
        pass
    except RuntimeError:
        library = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        for name in [name for name in sys.modules if name.startswith("torchvision")]:
            del sys.modules[name]
        KEPT.append(library)


if __name__ == "__main__":
    if "autograd" not in sys.modules:
        let_pytorch_import_torchvision()
    np.savez(sys.argv[2], **globals()[sys.argv[1]]())
