"""The Python SDK 2.x: loads a skill, completes a name, sees the library change.

Usage: python python_v2.py modern|legacy BINARY LIBRARY. LIBRARY is changed.
"""

import asyncio
import sys
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated, ToolsListChanged
from mcp_types import (
    PromptListChangedNotification,
    PromptReference,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
    ToolListChangedNotification,
)

WAIT_SECONDS = 10
SKILL = "skill://csv-report/SKILL.md"
SHORT = "skill://csv-report"
LIST_CHANGES = [ToolsListChanged(), PromptsListChanged(), ResourcesListChanged()]


async def main(era, binary, library):
    inbox = Inbox()
    server = StdioServerParameters(command=binary, args=["serve", str(library)])
    mode = "auto" if era == "modern" else "legacy"
    async with Client(server, mode=mode, message_handler=inbox.receive, read_timeout_seconds=WAIT_SECONDS) as client:
        assert client.protocol_version == ("2026-07-28" if era == "modern" else "2025-11-25"), client.protocol_version
        assert client.server_info.name == "skillcell", client.server_info
        await loads(client, library, -32602 if era == "modern" else -32002)
        await completes(client)
        await sees_a_new_skill(client, library, changes_by_listening if era == "modern" else inbox.changes_of_lists)
        await sees_an_edit(client, library, updates_by_listening if era == "modern" else inbox.updates)
    assert not inbox.faults, inbox.faults
    print("loaded, completed, saw list_changed and updated")


async def loads(client, library, not_found):
    text = (library / "csv-report/SKILL.md").read_text()
    tools = (await client.list_tools()).tools
    assert "skill" in [tool.name for tool in tools], tools
    called = await client.call_tool("skill", {"name": "csv-report"})
    assert not called.is_error and called.content[0].text.endswith(text), called
    resources = (await client.list_resources()).resources
    assert SKILL in [resource.uri for resource in resources], resources
    assert (await client.list_resource_templates()).resource_templates
    assert await text_at(client, SKILL) == text
    assert await text_at(client, SHORT) == text
    orders = (library / "csv-report/assets/orders.csv").read_text()
    assert await text_at(client, f"{SHORT}/assets/orders.csv") == orders
    try:
        await text_at(client, "skill://nobody/SKILL.md")
    except MCPError as unknown:
        assert unknown.code == not_found, unknown
    else:
        raise AssertionError("an unknown resource was read")
    prompts = (await client.list_prompts()).prompts
    assert {"skill", "csv-report"} <= {prompt.name for prompt in prompts}, prompts
    for name, arguments in [("skill", {"name": "csv-report"}), ("csv-report", None)]:
        prompt = await client.get_prompt(name, arguments)
        assert prompt.messages[0].content.resource.text == text, prompt


async def completes(client):
    argument = {"name": "name", "value": "csv"}
    completed = await client.complete(PromptReference(type="ref/prompt", name="skill"), argument)
    assert completed.completion.values == ["csv-report"], completed


async def sees_a_new_skill(client, library, changes):
    async with changes(client) as events:
        (library / "harbour-log").mkdir()
        skill = "---\nname: harbour-log\ndescription: Keep a log of ships\n---\nShips.\n"
        (library / "harbour-log/SKILL.md").write_text(skill)
        await all_of(LIST_CHANGES, events)
        prompts = (await client.list_prompts()).prompts
        assert "harbour-log" in [prompt.name for prompt in prompts], prompts
        resources = (await client.list_resources()).resources
        assert "skill://harbour-log/SKILL.md" in [resource.uri for resource in resources], resources


async def sees_an_edit(client, library, updates):
    uris = [SKILL, SHORT]
    async with updates(client, uris) as events:
        file = library / "csv-report/SKILL.md"
        text = file.read_text() + "\nWritten while the client watched.\n"
        file.write_text(text)
        await all_of([ResourceUpdated(uri) for uri in uris], events)
        for uri in uris:
            assert await text_at(client, uri) == text


async def text_at(client, uri):
    return (await client.read_resource(uri)).contents[0].text


async def all_of(expected, events):
    """Waits until each of `expected` was among `events`."""
    missing = set(expected)

    async def complete():
        while missing:
            missing.discard(await anext(events))

    try:
        await asyncio.wait_for(complete(), WAIT_SECONDS)
    except (TimeoutError, asyncio.TimeoutError):
        raise AssertionError(f"not within {WAIT_SECONDS} s: {missing}") from None


# 2026-07-28: `subscriptions/listen`


@asynccontextmanager
async def changes_by_listening(client):
    wanted = dict(tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True)
    async with client.listen(**wanted) as events:
        assert events.honored.model_dump(exclude_none=True) == wanted, events.honored
        yield events


@asynccontextmanager
async def updates_by_listening(client, uris):
    async with client.listen(resource_subscriptions=uris) as events:
        assert events.honored.resource_subscriptions == uris, events.honored
        yield events


class Inbox:
    """2025-11-25: notifications are sent without a request, those about a resource after `resources/subscribe`."""

    def __init__(self):
        self.events = asyncio.Queue()
        self.faults = []

    async def receive(self, message):
        match message:
            case Exception():
                self.faults.append(message)
            case ToolListChangedNotification():
                await self.events.put(ToolsListChanged())
            case PromptListChangedNotification():
                await self.events.put(PromptsListChanged())
            case ResourceListChangedNotification():
                await self.events.put(ResourcesListChanged())
            case ResourceUpdatedNotification(params=params):
                await self.events.put(ResourceUpdated(params.uri))

    async def __anext__(self):
        return await self.events.get()

    @asynccontextmanager
    async def changes_of_lists(self, _client):
        yield self

    @asynccontextmanager
    async def updates(self, client, uris):
        for uri in uris:
            await client.subscribe_resource(uri)
        yield self
        for uri in uris:
            await client.unsubscribe_resource(uri)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
