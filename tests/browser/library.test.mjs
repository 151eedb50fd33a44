// The page with as many skills as public libraries have: two thousand, in plugin folders, without declarations.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { AXE, EVIL, SHOTS, callTools, launch, open, serve, shoot, temporary, write } from './scene.mjs';

const PLUGINS = 100;
const CATALOG_SKILLS = 1_399;
const LONG = 'a-name-that-is-as-long-as-the-format-allows-it-to-be-and-no-more';
const REFUSED = 60;
const LINES = 2_000;

/** The highest document that a list may make. The longest of a phone is about ten screens. */
const MAX_HEIGHT = 9_000;

const skill = (name, more = '') => `---\nname: ${name}\ndescription: How to do ${name}, in a sentence that is longer than the row of a tree.\n${more}---\n# ${name}\n`;

/** Two thousand skills: six in each of a hundred plugins, one long list, and one that is long and has many files. */
function manySkills() {
  const files = { [`tools/${LONG}/SKILL.md`]: skill(LONG) };
  for (let plugin = 0; plugin < PLUGINS; plugin += 1) {
    for (let at = 0; at < 6; at += 1) {
      const name = `task-${plugin}-${at}`;
      // Two kinds of problems: another name, and no description.
      files[`plugins/plugin-${plugin}/skills/${name}/SKILL.md`] = at === 5 ? skill(`other-${plugin}`) : skill(name);
    }
    files[`plugins/plugin-${plugin}/skills/task-${plugin}-0/scripts/run.py`] = 'print(1)\n';
    files[`broken/plugin-${plugin}/SKILL.md`] = `---\nname: plugin-${plugin}\n---\nNo description.\n`;
  }
  for (let at = 0; at < CATALOG_SKILLS; at += 1) files[`catalog/service-${String(at).padStart(4, '0')}/SKILL.md`] = skill(`service-${String(at).padStart(4, '0')}`);
  for (let at = 0; at < 300; at += 1) files[`tools/${LONG}/reference/part-${at % 3}/page-${at}.md`] = 'Text.\n';
  files[`tools/${LONG}/scripts/check.sh`] = 'true\n';
  files[`tools/${LONG}/SKILL.md`] += 'A line.\n'.repeat(LINES);
  files[`tools/${LONG}/scripts/<b>evil<b>.js`] = '1\n';
  files['.curated/secret/SKILL.md'] = skill('secret');
  return write(temporary('many'), files);
}

const VIEWS = {
  catalog: '#/',
  skill: `#/skill/tools/${LONG}`,
  files: `#/skill/tools/${LONG}?show=more`,
  deep: '#/skill/catalog/service-0777',
  ask: '#/ask?task=how%20to%20do%20service-0777',
  grants: '#/grants',
  audit: '#/audit',
  searched: '#/audit?find=script-7&only=refusals',
  usage: '#/usage',
};

let server, browser, visit;

before(async () => {
  const skills = manySkills();
  const home = temporary('home');
  write(home, { '.config/skillcell/config.yaml': 'analytics: {enabled: true}\n' });
  const address = at => `catalog/service-${String(at).padStart(4, '0')}`;
  const numbers = Array.from({ length: REFUSED }, (_, at) => at);
  await callTools(skills, home, [
    ...numbers.map(at => ['run_script', { skill_path: address(at), file: `${at === 9 ? EVIL : ''}script-${at}.py`, args: {} }]),
    ...numbers.map(at => ['get_skill', { context: 'anything', skill_path: address(at) }]),
  ]);
  server = await serve(skills, home);
  browser = await launch();
});
after(async () => {
  await browser.close();
  assert.equal(await server.end(), 0);
});
beforeEach(async () => {
  visit = await open(browser);
});
afterEach(async () => {
  const { errors, origins } = visit;
  await visit.close();
  assert.deepEqual(errors, []);
  assert.deepEqual([...origins].filter(origin => origin !== new URL(server.address).origin && origin !== 'null'), []);
});

const text = (page, selector) => page.locator(selector).innerText();

/** Whether an element is in the window, below the bar on top. */
const isShown = locator => locator.evaluate(element => {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= document.querySelector('.top').getBoundingClientRect().bottom && bottom <= innerHeight;
});

test('folders are a tree that the keyboard expands and collapses', async () => {
  const { page } = visit;
  await visit.show(server.address);
  assert.equal(await text(page, '.side .count'), '2,000 skills');
  const names = () => page.locator('[role=treeitem] .name').allInnerTexts();
  assert.deepEqual(await names(), ['catalog', 'plugins', LONG], 'a folder with one skill is that skill');
  assert.equal(await page.locator('[role=treeitem] .above').innerText(), 'tools');
  const [catalog, plugins] = await page.locator('[role=treeitem]').all();
  assert.match(await catalog.innerText(), /^catalog 1,399\s+skills$/);
  assert.match(await plugins.innerText(), /^plugins 600\s+skills$/);
  await page.getByLabel('Only with scripts').focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.equal(await plugins.getAttribute('aria-expanded'), 'true', 'Enter toggles a folder');
  assert.equal(new URL(page.url()).hash, '#/', 'and leads nowhere');
  await page.keyboard.press('ArrowRight');
  const focused = () => page.evaluate(() => {
    const { ariaLevel, ariaPosInSet, ariaSetSize } = document.activeElement;
    return [document.activeElement.querySelector('.name').textContent, ariaLevel, ariaPosInSet, ariaSetSize];
  });
  assert.deepEqual(await focused(), ['plugin-0/skills', '2', '1', '100']);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.deepEqual(await focused(), ['task-0-0', '3', '1', '6']);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  assert.deepEqual(await names(), ['catalog', 'plugins', LONG]);
});

test('a skill in the middle of a long list is selected in it', async () => {
  const { page } = visit;
  await visit.show(server.address, VIEWS.deep);
  const picked = page.locator('[aria-selected=true]');
  assert.equal(await picked.locator('.name').innerText(), 'service-0777');
  assert.equal(await picked.getAttribute('aria-posinset'), '778');
  const isInSight = await picked.evaluate(entry => {
    const [inner, outer] = [entry, entry.closest('.side')].map(element => element.getBoundingClientRect());
    return inner.top >= outer.top && inner.bottom <= outer.bottom;
  });
  assert.ok(isInSight);
  assert.deepEqual(await page.locator('.entry.more').allInnerTexts(), ['Show 200 of 600 before', 'Show 200 of 599 more']);
  const shown = await page.locator('[role=treeitem]').count();
  await page.locator('.entry.more').first().focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.querySelector('.name').textContent), 'service-0599');
  assert.equal(await page.locator('[role=treeitem]').count(), shown + 200);
});

test('names come first and are whole, however narrow the row', async () => {
  const { page } = visit;
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    for (const filter of ['', 'name', 'task-7']) {
      await visit.show(server.address, '#/');
      await page.locator('#filter').fill(filter);
      const wrong = await page.evaluate(() => [...document.querySelectorAll('.entry:not(.more)')].filter(entry => {
        const row = entry.getBoundingClientRect();
        const [name, note] = ['.name', '.note'].map(part => entry.querySelector(part)?.getBoundingClientRect());
        const isWhole = name.left >= row.left && name.right <= row.right + 0.5 && name.bottom <= row.bottom + 0.5;
        return !isWhole || entry.innerText.indexOf(entry.querySelector('.name').innerText) !== 0 || note?.top < name.top - 4;
      }).map(entry => entry.innerText));
      assert.deepEqual(wrong, [], `${filter} at ${width}`);
    }
    for (const [hash, row] of [[VIEWS.ask, '.ranking > li'], [VIEWS.audit, '.trail > li'], [VIEWS.usage, '.usage tbody tr']]) {
      await visit.show(server.address, hash);
      const first = page.locator(row).first();
      assert.match(await first.innerText(), /^(1\s+)?service-\d{4}/, `${hash} at ${width}`);
      const isWhole = await first.evaluate(row => row.querySelector('.skill-name').getBoundingClientRect().right <= innerWidth);
      assert.ok(isWhole, `${hash} at ${width}`);
    }
  }
});

test('no view is long, whatever the library has', async () => {
  const { page } = visit;
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    for (const [name, hash] of Object.entries(VIEWS)) {
      await visit.show(server.address, hash);
      await page.evaluate(async () => {
        for (let round = 0; round < 3; round += 1) {
          document.querySelectorAll('.pane details, .problems details').forEach(details => { details.open = true; });
          await new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        }
        for (const entry of document.querySelectorAll('[role=treeitem][aria-expanded=false] .twist')) entry.click();
      });
      const [height, surplus, elements] = await page.evaluate(() => {
        const { scrollHeight, scrollWidth, clientWidth } = document.documentElement;
        return [scrollHeight, scrollWidth - clientWidth, document.querySelectorAll('*').length];
      });
      assert.ok(height < MAX_HEIGHT, `${name} at ${width} has ${height} pixels`);
      assert.ok(elements < 8_000, `${name} at ${width} has ${elements} elements`);
      assert.equal(surplus, 0, `${name} at ${width}`);
    }
  }
});

test('problems are grouped by kind, filtered, and shown a page at a time', async () => {
  const { page } = visit;
  await visit.show(server.address);
  await page.getByRole('heading', { name: '200 problems' }).waitFor();
  const groups = page.locator('.group');
  assert.equal(await groups.count(), 2);
  for (const [at, severity] of ['error', 'warning'].entries()) {
    const summary = await groups.nth(at).locator('summary').innerText();
    assert.match(summary, new RegExp(`^[a-z-]+\\s+${severity}\\s+100\\s`), 'the code, the severity and the count');
  }
  assert.equal(await page.locator('.group li').count(), 0, 'closed');
  await groups.first().locator('summary').focus();
  await page.keyboard.press('Enter');
  const rows = groups.first().locator('.rows > li');
  await rows.first().waitFor();
  assert.equal(await rows.count(), 25);
  const first = await rows.first().innerText();
  const next = page.getByRole('button', { name: /^Next page of problems/ });
  for (let step = 0; step < 5; step += 1) {
    await next.focus();
    await page.keyboard.press('Enter');
  }
  assert.equal(await groups.first().locator('.position').innerText(), '76–100 of 100', 'the last page is the end');
  assert.ok(await next.evaluate(button => button === document.activeElement && button.ariaDisabled === 'true'), 'the focus stays');
  assert.notEqual(await rows.first().innerText(), first);
  await page.getByRole('button', { name: /^Previous page of problems/ }).click();
  await rows.last().scrollIntoViewIfNeeded();
  await next.click();
  assert.ok(await isShown(rows.first()), 'a new page is shown from its start');
  await page.getByRole('button', { name: /^First page of problems/ }).click();
  assert.equal(await rows.first().innerText(), first);
  await page.getByLabel('Filter problems').fill('plugin-42/ other');
  assert.equal(await text(page, '.problems .count'), '1 of 200 problems');
  assert.equal(await groups.count(), 1);
  await page.getByLabel('Filter problems').fill('no such file anywhere');
  assert.equal(await text(page, '.problems .count'), 'No problem matches');
  assert.match(await text(page, '.hidden-skills'), /1 skill not served[\s\S]*\.curated/);
});

test('files and scripts that a skill only has are shown with their runtime', async () => {
  const { page } = visit;
  await visit.show(server.address, VIEWS.files);
  assert.match(await text(page, '.tabs'), /Files \(303\)/);
  const scripts = page.locator('.part-of-skill .rows > li');
  assert.deepEqual((await scripts.allInnerTexts()).map(row => row.replaceAll(/\s+/g, ' ')), [
    'scripts/<b>evil<b>.js runs in the sandbox: javascript not declared', 'scripts/check.sh runs in the sandbox: shell not declared',
  ]);
  assert.equal(await page.locator('main b').count(), 0, 'a name is not markup');
  const folders = page.locator('.files summary');
  assert.deepEqual(await folders.allInnerTexts(), ['reference/ 300 files', 'scripts/ 2 files']);
  await folders.first().focus();
  await page.keyboard.press('Enter');
  await page.getByText('part-1/').waitFor();
  await page.getByText('part-1/').click();
  await page.getByText('page-1.md').waitFor();
  await page.getByRole('button', { name: 'Next page of files in part-1' }).click();
  await page.getByText('51–100 of 100').waitFor();
  await visit.show(server.address, '#/skill/plugins/plugin-7/skills/task-7-0?show=more');
  assert.match(await text(page, '.part-of-skill'), /scripts\/run\.py\s+runs in the sandbox: python/);
});

test('a long text is shown as a whole on demand', async () => {
  const { page } = visit;
  for (const hash of [VIEWS.skill, `${VIEWS.skill}?show=file`]) {
    await visit.show(server.address, hash);
    const lines = () => page.locator('.part-of-skill pre').evaluate(pre => pre.textContent.trimEnd().split('\n').length);
    assert.ok(await lines() <= 300, hash);
    await page.getByRole('button', { name: /^Show the rest: [\d,]+ characters, 1,7\d\d lines$/ }).click();
    assert.ok(await lines() > LINES, hash);
    assert.equal(await page.getByRole('button', { name: /^Show the rest/ }).count(), 0);
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'PRE', 'the focus is on the text');
  }
});

test('the skills with scripts can be listed alone', async () => {
  const { page } = visit;
  await visit.show(server.address);
  await page.getByLabel('Only with scripts (101)').check();
  assert.equal(await text(page, '.side .count'), '101 of 2,000 skills');
  assert.match(await page.locator('.entry', { hasText: LONG }).locator('.mark').innerText(), /2/);
  await page.locator('#filter').fill('task-42');
  assert.deepEqual(await page.locator('.entry .name').allInnerTexts(), ['task-42-0']);
  await page.getByLabel('Only with scripts (101)').uncheck();
  assert.equal(await text(page, '.side .count'), '6 of 2,000 skills');
});

test('the audit trail is searched as a whole, and every page of it has an address', async () => {
  const { page } = visit;
  await visit.show(server.address, '#/audit');
  const entries = page.locator('.trail > li');
  assert.equal(await entries.count(), 25);
  assert.equal(await text(page, '.position'), `1–25 of ${REFUSED}`);
  await page.getByRole('link', { name: 'Older ›' }).click();
  await page.getByText(`26–50 of ${REFUSED}`).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Older ›', 'the focus stays');
  await entries.last().scrollIntoViewIfNeeded();
  await page.getByRole('link', { name: 'Oldest entries' }).click();
  await page.getByText(`51–${REFUSED} of ${REFUSED}`).waitFor();
  assert.ok(await isShown(entries.first()));
  await page.goBack();
  await page.getByText(`26–50 of ${REFUSED}`).waitFor();
  // The oldest, which is not on this page.
  await page.getByLabel('Search the whole record').fill('SCRIPT-0.py service-0000');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelectorAll('.trail > li').length === 1);
  assert.match(await entries.first().innerText(), /^service-0000\s+script-0\.py/);
  assert.match(await text(page, '#status'), new RegExp(`^1 of ${REFUSED} lines$`));
  assert.ok(await page.evaluate(() => document.activeElement.id === 'find'), 'the focus stays in the box');
  await page.getByRole('link', { name: 'Runs' }).click();
  await page.getByText('No entry matches').waitFor();
  await page.goBack();
  await entries.first().waitFor();
  await page.getByLabel('Search the whole record').fill(EVIL);
  await page.getByRole('button', { name: 'Search' }).click();
  await page.waitForFunction(() => document.querySelector('.trail .skill-name')?.textContent === 'service-0009');
  assert.equal(await page.locator('main img, main script').count(), 0);
  await page.getByLabel('Search the whole record').fill('');
  await page.getByText(`1–25 of ${REFUSED}`).waitFor();
  await visit.show(server.address, '#/audit?page=99');
  await page.getByText('There are no older entries').waitFor();
});

test('used skills are shown a page at a time', async () => {
  const { page } = visit;
  await visit.show(server.address, '#/usage');
  assert.equal(await page.locator('.usage tbody tr').count(), 25);
  await page.getByRole('button', { name: 'Last page of used skills' }).click();
  assert.equal(await text(page, '.position'), `51–${REFUSED} of ${REFUSED}`);
  assert.equal(await page.locator('.usage tbody tr').count(), REFUSED - 50);
});

test('axe finds no accessibility problems', async () => {
  const { page } = visit;
  await page.setViewportSize({ width: 390, height: 800 });
  for (const [name, hash] of Object.entries(VIEWS)) {
    await visit.show(server.address, hash);
    await page.evaluate(() => document.querySelectorAll('.pane details').forEach(details => { details.open = true; }));
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => axe.run());
    assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html.slice(0, 150)).join('; ')}`), [], name);
  }
});

if (SHOTS) test('screenshots of every view', () => shoot(browser, server.address, VIEWS, 'large'));
