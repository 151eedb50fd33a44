// The official TypeScript client: loads a skill with its digests verified, completes a name, sees the library change.
//
// Usage: node typescript.mjs modern|legacy BINARY|URL LIBRARY. LIBRARY is changed. At a URL, TOKEN is sent.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import assert from 'node:assert/strict';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const WAIT_MS = 10_000;
const SKILL = 'skill://csv-report/SKILL.md';
const SHORT = 'skill://csv-report';
const LIST_CHANGED = ['tools', 'prompts', 'resources'].map(list => `notifications/${list}/list_changed`);
const UPDATED = 'notifications/resources/updated';

const [era, server, library] = process.argv.slice(2);
const modern = era === 'modern';
const revision = modern ? '2026-07-28' : '2025-11-25';
const file = join(library, 'csv-report/SKILL.md');

const client = new Client(
  { name: 'conformance-typescript', version: '1.0.0' },
  { versionNegotiation: { mode: modern ? { pin: revision } : 'legacy' } }
);
const problems = [];
client.onerror = error => {
  // Over HTTP this client sends notifications without a header that rmcp requires. Nothing depends on it.
  if (!error.data?.text?.includes('missing required Mcp-Method header')) problems.push(error);
};
const waiting = [];
for (const method of [...LIST_CHANGED, UPDATED]) {
  client.setNotificationHandler(method, ({ params }) => {
    const at = waiting.findIndex(it => it.method === method && (it.uri === undefined || it.uri === params.uri));
    if (at >= 0) waiting.splice(at, 1)[0].resolve();
  });
}

await client.connect(transport(), { timeout: WAIT_MS });
assert.equal(client.getNegotiatedProtocolVersion(), revision);
await loads();
await completes();
await seesANewSkill();
await seesAnEdit();
await client.close();
assert.deepEqual(problems, [], 'the client reported no errors');
console.log('loaded, completed, saw list_changed and updated');

function transport() {
  if (!server.startsWith('http:')) return new StdioClientTransport({ command: server, args: ['serve', library] });
  return new StreamableHTTPClientTransport(new URL(server), {
    requestInit: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } }
  });
}

async function loads() {
  const skills = new SkillsClient(client);
  assert.ok(skills.supported && skills.directoryRead, 'the extension is declared');
  const { skills: listed } = await skills.list();
  assert.ok(listed.length > 1);
  for (const skill of listed) {
    for (const { uri } of skill.resources) {
      const read = await skills.read(skill, uri);
      assert.ok(read.verified, uri);
    }
  }

  const { skill } = await skills.get(SKILL);
  assert.deepEqual(skill, listed.find(({ uri }) => uri === SKILL));
  const text = await readFile(file, 'utf8');
  assert.equal((await skills.read(skill)).text, text);
  const orders = await skills.read(skill, 'assets/orders.csv');
  assert.deepEqual(Buffer.from(orders.bytes), await readFile(join(library, 'csv-report/assets/orders.csv')));
  const { resources } = await skills.readDirectory(SHORT);
  const children = Object.fromEntries(resources.map(({ uri, mimeType }) => [uri, mimeType]));
  assert.equal(children[SKILL], 'text/markdown');
  assert.equal(children[`${SHORT}/assets`], 'inode/directory');
  await assert.rejects(skills.get('skill://nobody/SKILL.md'), { code: -32602 });

  const { tools } = await client.listTools();
  assert.ok(tools.some(({ name }) => name === 'skill'));
  const called = await client.callTool({ name: 'skill', arguments: { name: 'csv-report' } });
  assert.ok(called.content[0].text.endsWith(text), 'the tool answers with the exact file');
  for (const request of [{ name: 'skill', arguments: { name: 'csv-report' } }, { name: 'csv-report' }]) {
    const { messages } = await client.getPrompt(request);
    assert.equal(messages[0].content.resource.text, text);
  }
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.ok(resourceTemplates.length > 0);
}

async function completes() {
  const { completion } = await client.complete({
    ref: { type: 'ref/prompt', name: 'skill' },
    argument: { name: 'name', value: 'csv' }
  });
  assert.deepEqual(completion.values, ['csv-report']);
}

async function seesANewSkill() {
  const changes = LIST_CHANGED.map(method => notified(method));
  const wanted = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  const subscription = modern && (await listens(wanted));
  await mkdir(join(library, 'harbour-log'));
  const skill = '---\nname: harbour-log\ndescription: Keep a log of ships\n---\nShips.\n';
  await writeFile(join(library, 'harbour-log/SKILL.md'), skill);
  await Promise.all(changes);
  const { prompts } = await client.listPrompts();
  assert.ok(prompts.some(({ name }) => name === 'harbour-log'));
  const { resources } = await client.listResources();
  assert.ok(resources.some(({ uri }) => uri === 'skill://harbour-log/SKILL.md'));
  const { skills } = await new SkillsClient(client).list();
  assert.ok(skills.some(({ uri }) => uri === 'skill://harbour-log/SKILL.md'));
  await subscription?.close?.();
}

async function seesAnEdit() {
  const before = await client.readResource({ uri: SKILL });
  assert.equal(before.contents[0].text, await readFile(file, 'utf8'));
  const updates = [SKILL, SHORT].map(uri => notified(UPDATED, uri));
  let subscription;
  if (modern) subscription = await listens({ resourceSubscriptions: [SKILL, SHORT] });
  else for (const uri of [SKILL, SHORT]) await client.subscribeResource({ uri });
  await appendFile(file, '\nWritten while the client watched.\n');
  await Promise.all(updates);
  const text = await readFile(file, 'utf8');
  for (const uri of [SKILL, SHORT]) {
    const { contents } = await client.readResource({ uri });
    assert.equal(contents[0].text, text);
  }
  const skills = new SkillsClient(client);
  const { skill } = await skills.get(SKILL);
  assert.equal((await skills.read(skill)).text, text);
  if (modern) await subscription.close();
  else for (const uri of [SKILL, SHORT]) await client.unsubscribeResource({ uri });
}

async function listens(filter) {
  const subscription = await client.listen(filter, { timeout: WAIT_MS });
  assert.deepEqual(subscription.honoredFilter, filter);
  return subscription;
}

/** Waits for the next notification of this method, about `uri` if given. */
function notified(method, uri) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no ${method} ${uri ?? ''} within ${WAIT_MS} ms`)), WAIT_MS);
    waiting.push({ method, uri, resolve: () => (clearTimeout(late), resolve()) });
  });
}
