"""The Python SDK 1.x: loads a skill, completes a name, sees the library change.

Usage: python python_v1.py legacy BINARY LIBRARY. LIBRARY is changed.
"""

import asyncio
import sys
from pathlib import Path

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import PromptReference, ServerNotification
from pydantic import AnyUrl

WAIT_SECONDS = 10
SKILL = "skill://csv-report/SKILL.md"
SHORT = "skill://csv-report"
LIST_CHANGED = [f"notifications/{kind}/list_changed" for kind in ("tools", "prompts", "resources")]
UPDATED = "notifications/resources/updated"


async def main(binary, library):
    inbox = Inbox()
    async with stdio_client(StdioServerParameters(command=binary, args=["serve", str(library)])) as (read, write):
        async with ClientSession(read, write, message_handler=inbox.receive) as session:
            started = await within(session.initialize())
            assert started.protocolVersion == "2025-11-25", started.protocolVersion
            await loads(session, library)
            await completes(session)
            await sees_a_new_skill(session, library, inbox)
            await sees_an_edit(session, library, inbox)
    assert not inbox.faults, inbox.faults
    print("loaded, completed, saw list_changed and updated")


async def loads(session, library):
    text = (library / "csv-report/SKILL.md").read_text()
    tools = (await within(session.list_tools())).tools
    assert "skill" in [tool.name for tool in tools], tools
    called = await within(session.call_tool("skill", {"name": "csv-report"}))
    assert not called.isError and called.content[0].text.endswith(text), called
    resources = (await within(session.list_resources())).resources
    assert SKILL in [str(resource.uri) for resource in resources], resources
    assert (await within(session.list_resource_templates())).resourceTemplates
    assert await text_at(session, SKILL) == text
    assert await text_at(session, SHORT) == text
    orders = (library / "csv-report/assets/orders.csv").read_text()
    assert await text_at(session, f"{SHORT}/assets/orders.csv") == orders
    try:
        await text_at(session, "skill://nobody/SKILL.md")
    except McpError as unknown:
        assert unknown.error.code == -32002, unknown.error
    else:
        raise AssertionError("an unknown resource was read")
    prompts = (await within(session.list_prompts())).prompts
    assert {"skill", "csv-report"} <= {prompt.name for prompt in prompts}, prompts
    for name, arguments in [("skill", {"name": "csv-report"}), ("csv-report", None)]:
        prompt = await within(session.get_prompt(name, arguments))
        assert prompt.messages[0].content.resource.text == text, prompt


async def completes(session):
    argument = {"name": "name", "value": "csv"}
    completed = await within(session.complete(PromptReference(type="ref/prompt", name="skill"), argument))
    assert completed.completion.values == ["csv-report"], completed


async def sees_a_new_skill(session, library, inbox):
    (library / "harbour-log").mkdir()
    skill = "---\nname: harbour-log\ndescription: Keep a log of ships\n---\nShips.\n"
    (library / "harbour-log/SKILL.md").write_text(skill)
    for method in LIST_CHANGED:
        await inbox.next(method)
    prompts = (await within(session.list_prompts())).prompts
    assert "harbour-log" in [prompt.name for prompt in prompts], prompts
    resources = (await within(session.list_resources())).resources
    assert "skill://harbour-log/SKILL.md" in [str(resource.uri) for resource in resources], resources


async def sees_an_edit(session, library, inbox):
    for uri in [SKILL, SHORT]:
        await within(session.subscribe_resource(AnyUrl(uri)))
    file = library / "csv-report/SKILL.md"
    text = file.read_text() + "\nWritten while the client watched.\n"
    file.write_text(text)
    for uri in [SKILL, SHORT]:
        await inbox.next(UPDATED, uri)
        assert await text_at(session, uri) == text
    for uri in [SKILL, SHORT]:
        await within(session.unsubscribe_resource(AnyUrl(uri)))


async def text_at(session, uri):
    return (await within(session.read_resource(AnyUrl(uri)))).contents[0].text


class Inbox:
    """Notifications that have arrived and were not awaited yet."""

    def __init__(self):
        self.unread = []
        self.faults = []
        self.arrival = asyncio.Condition()

    async def receive(self, message):
        async with self.arrival:
            if isinstance(message, Exception):
                self.faults.append(message)
            elif isinstance(message, ServerNotification):
                notification = message.root
                self.unread.append((notification.method, str(getattr(notification.params, "uri", ""))))
            self.arrival.notify_all()

    async def next(self, method, uri=""):
        async def taken():
            async with self.arrival:
                await self.arrival.wait_for(lambda: (method, uri) in self.unread)
                self.unread.remove((method, uri))

        try:
            await within(taken())
        except TimeoutError:
            raise AssertionError(f"no {method} {uri} within {WAIT_SECONDS} s, only {self.unread}") from None


async def within(awaitable):
    try:
        return await asyncio.wait_for(awaitable, WAIT_SECONDS)
    except asyncio.TimeoutError as late:  # not yet the built-in one in Python 3.10
        raise TimeoutError(f"nothing within {WAIT_SECONDS} s") from late


if __name__ == "__main__":
    assert sys.argv[1] == "legacy", "the 1.x SDK supports only the legacy era"
    asyncio.run(main(sys.argv[2], Path(sys.argv[3])))
