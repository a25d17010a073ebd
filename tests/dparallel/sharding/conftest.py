"""shard: a test that takes it runs once for each stage of sharding."""

import pytest
from sharded_models import STAGES


@pytest.fixture(params=STAGES)
def shard(request):
    return request.param
