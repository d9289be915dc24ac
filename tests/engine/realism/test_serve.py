from __future__ import annotations

from tests import commands
from tests.engine.database import table_request
from tests.server.http import sdk_client
from tests.server.test_stopping import served


def test_serve_can_be_realistic() -> None:
    with served("--realistic", "--control-delay", "600") as (_, url):
        client = sdk_client(url)
        client.create_table(**table_request("shop"))
        assert client.describe_table(TableName="shop")["Table"]["TableStatus"] == "CREATING"
        client.close()


def test_delays_need_realism() -> None:
    done = commands.run("serve", "--read-lag", "1")
    assert done.returncode == 2
    assert "--control-delay and --read-lag need --realistic" in done.stderr
