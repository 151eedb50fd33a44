// What users do with the page, with and without a keyboard.

import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { AXE, EVIL, SHOTS, launch, library, open, serve, shoot, temporary, usedHome, write } from './scene.mjs';

const AUTH = '#/skill/ui/react/auth';
const VIEWS = {
  catalog: '#/',
  skill: AUTH,
  written: `${AUTH}?show=file`,
  files: '#/skill/csv-report?show=more',
  ask: '#/ask?task=build%20a%20React%20login%20form%20component',
  grants: '#/grants',
  audit: '#/audit',
  refusals: '#/audit?only=refusals',
  usage: '#/usage',
  evil: `#/skill/${encodeURIComponent('evil/<img src=x onerror=document.title=3>').replaceAll('%2F', '/')}`,
  long: `#/skill/evil/${'long'.repeat(50)}`,
  unknown: '#/skill/no-such-skill',
};
const WIDTHS = [360, 768, 1280, 1600];

let skills, server, browser, visit;

before(async () => {
  skills = library();
  server = await serve(skills, await usedHome(skills));
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

test('the tree is one tab stop, and the arrow keys lead to a skill with its inheritance', async () => {
  const { page } = visit;
  await visit.show(server.address);
  await page.getByLabel('Only with scripts').focus();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('role')), 'treeitem');
  const focused = () => page.evaluate(() => document.activeElement.querySelector('.name')?.textContent);
  await page.keyboard.press('Home');
  const path = ['root', 'ui', 'react', 'auth'];
  for (const [depth, name] of path.entries()) {
    if (depth > 0) await page.keyboard.press('ArrowRight');
    // Closed and opened again, so that both are tested.
    if (depth > 0 && await page.evaluate(() => document.activeElement.getAttribute('aria-expanded')) === 'true') {
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowRight');
    }
    for (let step = 0; step < 40 && await focused() !== name; step += 1) await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), name);
  }
  await page.keyboard.press('Enter');
  await page.locator('.skill h1').waitFor();
  assert.equal(await focused(), 'auth', 'the focus stays in the tree');
  assert.equal(new URL(page.url()).hash, AUTH);
  assert.deepEqual(await page.locator('.inheritance li').allInnerTexts(), ['_root', 'ui/_index', 'ui/react/_index', 'ui/react/auth']);
  assert.deepEqual(await page.locator('.part > summary').allInnerTexts(), [
    '=== GLOBAL RULES (from _root.md) ===', '=== UI (from ui/_index.md) ===',
    '=== UI > REACT (from ui/react/_index.md) ===', '=== UI > REACT > AUTH (from ui/react/auth.md) ===',
  ]);
  const shown = await text(page, '.part-of-skill');
  assert.match(shown, /Handle an error where something can be done about it/);
  assert.match(shown, /The browser side of `api\/auth`/);
  assert.match(await page.title(), /ui\/react\/auth/);
  await page.keyboard.press('ArrowLeft');
  assert.equal(await focused(), 'react', 'one level up');
});

test('a filter finds skills by their words, and the arrow keys go to the results', async () => {
  const { page } = visit;
  await visit.show(server.address);
  await page.locator('#filter').fill('POSTGRESQL schema');
  assert.deepEqual(await page.locator('[role=treeitem] .name').allInnerTexts(), ['migrations']);
  assert.equal(await text(page, '[role=treeitem] .above'), 'data');
  assert.match(await text(page, '.count'), /^1 of \d+ skills$/);
  await page.locator('#filter').press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.locator('.skill h1').waitFor();
  assert.equal(await text(page, '.skill h1'), 'data/migrations');
  await page.locator('#filter').fill('no such words');
  assert.equal(await text(page, '.count'), 'No skill matches');
  await page.locator('#filter').fill('');
  assert.equal(await text(page, '[aria-selected=true] .name'), 'migrations');
});

test('every view has an address, and going back works', async () => {
  const { page } = visit;
  await visit.show(server.address, AUTH);
  await page.getByRole('link', { name: 'As written' }).click();
  await page.getByText('keywords: [react, authentication').waitFor();
  await page.getByRole('link', { name: /^Files/ }).click();
  await page.getByRole('heading', { name: 'Assets' }).waitFor();
  assert.match(await text(page, '.part-of-skill'), /check-commit\.sh[\s\S]*inherited from _root/);
  await page.getByRole('navigation', { name: 'Inheritance' }).getByRole('link', { name: 'ui/_index' }).click();
  await page.locator('.skill h1', { hasText: 'ui/_index' }).waitFor();
  await page.getByRole('link', { name: 'Audit' }).click();
  await page.locator('h1', { hasText: 'Audit trail' }).waitFor();
  await page.goBack();
  await page.locator('.skill h1', { hasText: 'ui/_index' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Assets' }).waitFor();
  await page.goto(`${server.address}#/nothing-of-that-name`);
  await page.locator('h1', { hasText: 'Catalog' }).waitFor();
});

test('a ranking shows each score, the deciding scorer, and the thresholds', async () => {
  const { page } = visit;
  await visit.show(server.address, '#/ask');
  await page.getByLabel('The task, as an agent would phrase it').fill('build a React login form component');
  await page.keyboard.press('Enter');
  await page.locator('.ranking').waitFor();
  assert.match(await text(page, '.verdict'), /The answer is ui\/react\/auth with a score of 0\.8\d\d/);
  const best = page.locator('.ranking > li').first();
  assert.deepEqual(await best.locator('.scores tbody th bdi').allInnerTexts(), ['keyword', 'bm25', 'hybrid', 'semantic']);
  for (const number of await best.locator('td.number').allInnerTexts()) assert.match(number, /^[01]\.\d{3}$/);
  assert.equal(await best.locator('.decides th bdi').innerText(), 'hybrid');
  assert.match(await best.locator('.decides .reason').innerText(), /react/);
  assert.match(await text(page, '.reasons'), /a score of 0\.2[\s\S]*a lead of 0\.1[\s\S]*leads by/);
  assert.match(await text(page, '#status'), /The answer is ui\/react\/auth/);
  await page.getByLabel('The task, as an agent would phrase it').fill('add login with authentication');
  await page.getByRole('button', { name: 'Rank' }).click();
  await page.locator('.verdict.several').waitFor();
  assert.deepEqual(new Set(await page.locator('.ranking .badge.good').allInnerTexts()), new Set(['offered']));
  await page.getByLabel('The task, as an agent would phrase it').fill('qqqq zzzz');
  await page.keyboard.press('Enter');
  await page.locator('.verdict.none').waitFor();
  await page.goBack();
  await page.locator('.verdict.several').waitFor();
  await page.locator('.ranking a').first().click();
  await page.locator('.skill h1').waitFor();
});

test('grants, the audit trail with its refusals, and usage are shown', async () => {
  const { page } = visit;
  await visit.show(server.address, '#/grants');
  const grants = await text(page, 'main');
  for (const part of [/csv-report\s+in force/, /\/nowhere\s*does not exist/, /REPORT_LOCALE\s*not set/, /api\.example\.com/, /there is no such skill/, /256 MiB/, /github/]) {
    assert.match(grants, part);
  }
  await visit.show(server.address, '#/audit');
  assert.match(await text(page, 'main'), /chain verified/);
  assert.equal(await page.locator('.trail > li').count(), 3);
  assert.match(await page.locator('.trail > li').last().innerText(), /csv-report\s+scripts\/summarise\.py\s+run\s+exit 0/);
  await page.getByRole('link', { name: 'Refusals' }).click();
  await page.locator('a[aria-current=page]', { hasText: 'Refusals' }).waitFor();
  assert.equal(await page.locator('.trail > li').count(), 2);
  assert.match(await page.locator('.trail .reason').last().innerText(), /path traversal/);
  await page.locator('.trail summary').first().focus();
  await page.keyboard.press('Enter');
  assert.match(await page.locator('.trail details[open] pre').innerText(), /"kind": "refusal"/);
  await visit.show(server.address, '#/usage');
  assert.match(await page.locator('.usage tbody tr').first().innerText(), /auth\s+ui\/react\s+1/);
  assert.match(await text(page, '.figures'), /no match\s+1/);
});

test('the text of a skill is never interpreted as markup', async () => {
  const { page } = visit;
  for (const hash of [VIEWS.catalog, VIEWS.evil, `${VIEWS.evil}?show=file`, VIEWS.audit, `#/ask?task=${encodeURIComponent(EVIL)}`]) {
    await visit.show(server.address, hash);
    assert.equal(await page.locator('main img, main script, main iframe, main [onerror]').count(), 0, hash);
    assert.doesNotMatch(await page.title(), /^\d/, hash);
    assert.equal(await page.evaluate(() => document.body.textContent.includes('\u202e')), false, `${hash} contains a hidden character`);
  }
  await visit.show(server.address, VIEWS.evil);
  assert.match(await text(page, '.skill h1'), /<img src=x onerror=document\.title=3>/);
  assert.match(await text(page, '.part-of-skill'), /<script>document\.title=2<\/script>U\+202Egnp/);
});

test('nothing is wider than the window at any width', async () => {
  for (const width of WIDTHS) {
    for (const [name, hash] of Object.entries(VIEWS)) {
      await visit.page.setViewportSize({ width, height: 800 });
      await visit.show(server.address, hash);
      await visit.page.evaluate(() => document.querySelectorAll('details').forEach(details => { details.open = true; }));
      const surplus = await visit.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(surplus, 0, `${name} at ${width}`);
      // Notes in the tree are cut off.
      const wide = await visit.page.evaluate(() => [...document.querySelectorAll('main *')]
        .filter(element => !element.closest('.unseen, thead, .note *') && element.getBoundingClientRect().right > innerWidth + 1)
        .map(element => element.outerHTML.slice(0, 100)));
      assert.deepEqual(wide, [], `${name} at ${width}`);
    }
  }
});

test('the Tab key reaches everything', async () => {
  const { page } = visit;
  for (const [name, hash] of Object.entries(VIEWS)) {
    await visit.show(server.address, hash);
    const all = await page.evaluate(() => {
      const reachable = [...document.querySelectorAll('a[href], button, input, textarea, summary, [tabindex="0"]')];
      const shown = reachable.filter(element => element.tabIndex >= 0 && element.checkVisibility());
      shown.forEach((element, at) => { element.dataset.stop = at; });
      document.activeElement.blur();
      return shown.length;
    });
    const reached = new Set();
    for (let step = 0; step < all + 3; step += 1) {
      await page.keyboard.press('Tab');
      const stop = await page.evaluate(() => {
        const { dataset, offsetWidth } = document.activeElement;
        const ring = getComputedStyle(document.activeElement);
        return { at: dataset.stop, isSeen: offsetWidth > 0 && (ring.outlineStyle !== 'none' || document.activeElement === document.body) };
      });
      if (stop.at !== undefined) {
        reached.add(stop.at);
        assert.ok(stop.isSeen, `${name}: the focus on stop ${stop.at} cannot be seen`);
      }
    }
    assert.equal(reached.size, all, name);
  }
});

test('axe finds no accessibility problems in light and dark mode', async () => {
  for (const scheme of ['light', 'dark']) {
    for (const width of [360, 1280]) {
      const other = await open(browser, { width, scheme });
      for (const [name, hash] of Object.entries(VIEWS)) {
        await other.show(server.address, hash);
        await other.page.evaluate(AXE);
        const { violations } = await other.page.evaluate(() => axe.run());
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => `${node.html.slice(0, 150)} ${node.any[0]?.message ?? ''}`).join('; ')}`);
        assert.deepEqual(found, [], `${name}, ${scheme}, ${width}`);
      }
      assert.deepEqual(other.errors, []);
      await other.close();
    }
  }
});

test('an edit is shown with the next view, and a new skill after a reload', async () => {
  const { page } = visit;
  const folder = write(temporary('edited'), { 'a.md': '---\nkeywords: [one]\ndescription: First\n---\nOld words.\n' });
  const own = await serve(folder);
  await visit.show(own.address, '#/skill/a');
  await page.getByText('Old words.').waitFor();
  appendFileSync(join(folder, 'a.md'), 'New words.\n');
  write(folder, { 'b.md': '---\nkeywords: [two]\ndescription: Second\n---\nMore.\n' });
  await page.getByRole('link', { name: 'As written' }).click();
  await page.getByText('New words.').waitFor();
  await page.reload();
  await page.locator('[role=treeitem] .name', { hasText: /^b$/ }).waitFor();
  assert.equal(await own.end(), 0);
  visit.origins.clear();
});

test('empty and broken libraries and a stopped server are explained', async () => {
  const { page } = visit;
  const empty = await serve(temporary('empty'));
  await visit.show(empty.address);
  assert.match(await text(page, '.overview'), /No skills yet[\s\S]*SKILL\.md/);
  await page.goto(`${empty.address}#/usage`);
  await page.getByText('analytics: {enabled: true}').waitFor();
  await page.goto(`${empty.address}#/grants`);
  await page.getByText('Without a grant, a script can read only the folder of its skill.').waitFor();
  await page.goto(`${empty.address}#/audit`);
  await page.getByText('Nothing yet').waitFor();
  await empty.end();
  await page.getByRole('link', { name: 'Usage' }).click();
  await page.getByText('The server does not respond.').waitFor();
  visit.errors.length = 0;
  const hidden = await serve(write(temporary('hidden'), { '.curated/pdf/SKILL.md': '---\nname: pdf\ndescription: Forms\n---\nText.\n' }));
  await visit.show(hidden.address);
  assert.match(await text(page, '.overview'), /^Catalog\s+1 skill not served[\s\S]*\.curated/);
  await hidden.end();
  await visit.show(server.address);
  assert.match(await text(page, '.overview'), /broken\.md/);
  await visit.show(server.address, VIEWS.unknown);
  assert.match(await text(page, '.pane'), /no skill is called no-such-skill/);
  visit.origins.clear();
});

test('ten thousand skills are shown quickly', async () => {
  const { page } = visit;
  const folder = temporary('large');
  const files = {};
  for (let at = 0; at < 10_000; at += 1) {
    const place = at % 2 ? `area-${at % 40}/task-${at}.md` : `tool-${at}/SKILL.md`;
    files[place] = `---\nname: tool-${at}\nkeywords: [word${at}, common]\ndescription: How to do task ${at}\n---\nText ${at}.\n`;
  }
  const large = await serve(write(folder, files));
  await visit.show(large.address);
  const items = page.locator('[role=treeitem]');
  assert.equal(await items.count(), 201, '200, and an item that shows more');
  await items.last().focus();
  await page.keyboard.press('Enter');
  assert.equal(await items.count(), 401);
  await page.locator('#filter').fill('word9999');
  assert.equal(await text(page, '.count'), '1 of 10,000 skills');
  await page.locator('#filter').fill('common');
  assert.equal(await items.count(), 201);
  await page.locator('#filter').fill('word9998');
  await items.first().click();
  await page.locator('.skill h1', { hasText: 'tool-9998' }).waitFor();
  assert.ok(await page.evaluate(() => document.querySelectorAll('*').length) < 3000);
  assert.equal(await large.end(), 0);
  visit.origins.clear();
});

if (SHOTS) test('screenshots of every view', () => shoot(browser, server.address, VIEWS, 'small'));
