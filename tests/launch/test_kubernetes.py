"""The MPIJob of examples/kubernetes has the fields that the MPI Operator's schema knows (kubeflow.org/v2beta1, October 2026)."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent.parent / "examples" / "kubernetes"
SPEC = {"launcherCreationPolicy": str, "mpiImplementation": str, "mpiReplicaSpecs": dict, "runLauncherAsWorker": bool, "runPolicy": dict,
        "slotsPerWorker": int, "sshAuthMountPath": str}
POLICY = {"activeDeadlineSeconds": int, "backoffLimit": int, "cleanPodPolicy": str, "managedBy": str, "schedulingPolicy": dict,
          "suspend": bool, "ttlSecondsAfterFinished": int}
REPLICA = {"replicas": int, "restartPolicy": str, "template": dict}


def test_the_manifest():
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load((FOLDER / "mpijob.yaml").read_text())
    assert (job["apiVersion"], job["kind"]) == ("kubeflow.org/v2beta1", "MPIJob")
    spec = job["spec"]
    assert spec["mpiImplementation"] in ("OpenMPI", "Intel", "MPICH") and set(spec["mpiReplicaSpecs"]) == {"Launcher", "Worker"}
    for found, known in ((spec, SPEC), (spec["runPolicy"], POLICY), *((each, REPLICA) for each in spec["mpiReplicaSpecs"].values())):
        assert all(isinstance(value, known[name]) for name, value in found.items())
    launcher = spec["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]
    args = launcher["containers"][0]["args"]
    assert int(args[args.index("-n") + 1]) == spec["slotsPerWorker"] * spec["mpiReplicaSpecs"]["Worker"]["replicas"]
    assert float(args[args.index("--grace") + 1]) < launcher["terminationGracePeriodSeconds"]


def test_the_image_runs_as_an_ordinary_user():
    lines = (FOLDER / "Dockerfile").read_text().splitlines()
    assert [line for line in lines if re.match("USER|ENTRYPOINT", line)] == ["USER mpiuser"]
