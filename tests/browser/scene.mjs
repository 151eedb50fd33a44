// A library, a home with grants, an audit trail and a history, the real server, and a browser that shows its page.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const { SKILLCELL, CHROMIUM, PACKAGES, TEMPORARY, SKILLCELL_SHOTS } = process.env;
const packages = createRequire(join(PACKAGES, 'packages.cjs'));
const { chromium } = packages('playwright-core');

/** The folder for screenshots, if they are wanted. */
export const SHOTS = SKILLCELL_SHOTS;

/** The source of axe, which finds accessibility problems. */
export const AXE = packages('axe-core').source;

const BUNDLED = fileURLToPath(new URL('../../fixtures/skills', import.meta.url));

/** Markup and a character that reorders text, which can be anywhere in a skill. */
export const EVIL = '<img src=x onerror=document.title=1><script>document.title=2</script>\u202egnp';

const FLAGS = [
  '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
  // Often needed in a container, and only pages of this test are shown.
  '--no-sandbox',
];

export const temporary = name => mkdtempSync(join(TEMPORARY, `${name}-`));

export function write(folder, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** The bundled skills, and malicious ones. */
export function library() {
  const folder = temporary('library');
  cpSync(BUNDLED, folder, { recursive: true });
  const description = JSON.stringify(EVIL);
  return write(folder, {
    'evil/<img src=x onerror=document.title=3>.md': `---\nkeywords: [${description}]\ndescription: ${description}\n---\n${EVIL}\n\`\`\`</pre><script>document.title=4</script>\n`,
    [`evil/${'long'.repeat(50)}.md`]: `---\nkeywords: [${'x'.repeat(90)}]\ndescription: ${'y'.repeat(900)}\n---\n${'z'.repeat(5000)}\n`,
    'broken.md': '---\nkeywords: [x\ndescription: {{{\n---\n',
  });
}

/** A home with grants, runs, refusals and usage. */
export async function usedHome(skills) {
  const home = temporary('home');
  write(home, {
    '.config/skillcell/config.yaml': [
      'analytics: {enabled: true}',
      'grants:',
      `  ${JSON.stringify(skills)}:`,
      `    csv-report: {read: [${JSON.stringify(skills)}, /nowhere], env: [REPORT_LOCALE], hosts: [api.example.com]}`,
      '    gone: {}',
      '',
    ].join('\n'),
  });
  const run = (...more) => spawnSync(SKILLCELL, ['run', ...more, '--root', skills], { env: environment(home) });
  run('csv-report', 'scripts/summarise.py');
  run('csv-report', '../../etc/passwd');
  run('csv-report', `${EVIL}.py`);
  const ask = context => ['get_skill', { context }];
  await callTools(skills, home, [ask('build a React login form component'), ask('nothing of all this')]);
  return home;
}

/** Calls tools of a server, which records and counts them in a home. The server ends when all are answered. */
export async function callTools(skills, home, calls) {
  const handshake = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'browser-tests', version: '1' } };
  const messages = [
    { jsonrpc: '2.0', id: 0, method: 'initialize', params: handshake },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    ...calls.map(([name, parameters], at) => ({ jsonrpc: '2.0', id: at + 1, method: 'tools/call', params: { name, arguments: parameters } })),
  ];
  const child = spawn(SKILLCELL, ['serve', skills], { env: environment(home), stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = new Promise(resolve => child.once('exit', code => resolve(code)));
  child.stdin.write(messages.map(line => `${JSON.stringify(line)}\n`).join(''));
  const missing = new Set(messages.map(message => message.id).filter(id => id !== undefined));
  for await (const line of createInterface({ input: child.stdout })) {
    missing.delete(JSON.parse(line).id);
    if (missing.size === 0) child.stdin.end();
  }
  assert.deepEqual([await ended, [...missing]], [0, []]);
}

function environment(home) {
  const kept = Object.entries(process.env).filter(([name]) => !/^(SKILLCELL|SKILLS|XDG)_/.test(name));
  return { ...Object.fromEntries(kept), HOME: home };
}

/** Starts the server of the page. */
export async function serve(skills, home = temporary('home')) {
  const child = spawn(SKILLCELL, ['ui', skills], { env: environment(home), stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise(resolve => child.once('exit', code => resolve(code)));
  const lines = createInterface({ input: child.stdout });
  const address = await Promise.race([new Promise(resolve => lines.once('line', resolve)), ended]);
  if (typeof address !== 'string') throw new Error(`the server ended with ${address}`);
  return {
    address,
    async end() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

export const launch = () => chromium.launch({ executablePath: CHROMIUM, args: FLAGS });

/** Opens a page that collects errors and the origins of requests. */
export async function open(browser, { width = 1280, height = 800, scheme = 'light' } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const errors = [];
  page.on('console', message => {
    // Tests request a missing skill on purpose, which the browser reports as an error.
    const isNotFound = message.text().includes('404') && message.location().url.includes('/api/skill');
    if (message.type() === 'error' && !isNotFound) errors.push(`console: ${message.text()}`);
  });
  page.on('pageerror', error => errors.push(`error: ${error.stack}`));
  page.on('dialog', dialog => {
    errors.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', event => console.error(`refused by the policy: ${event.violatedDirective} ${event.blockedURI}`));
  });
  const origins = new Set();
  page.on('request', request => origins.add(new URL(request.url()).origin));
  return {
    page,
    errors,
    /** Origins of all requests. */
    origins,
    async show(address, hash = '#/') {
      // A new hash on the same page would not load it, so leave the page first.
      await page.goto('about:blank');
      await page.goto(address + hash);
      await settled(page);
    },
    close: () => context.close(),
  };
}

/** Writes screenshots of views at the width of a desktop and of a phone, in light and dark mode. */
export async function shoot(browser, address, views, name) {
  mkdirSync(SHOTS, { recursive: true });
  for (const [width, height] of [[1280, 800], [390, 844]]) {
    for (const scheme of ['light', 'dark']) {
      const visit = await open(browser, { width, height, scheme });
      for (const [view, hash] of Object.entries(views)) {
        await visit.show(address, hash);
        await visit.page.screenshot({ path: join(SHOTS, `${name}-${view}-${width}-${scheme}.png`) });
      }
      assert.deepEqual(visit.errors, []);
      await visit.close();
    }
  }
}

/** Waits until the page has rendered the view of its address. */
const settled = page => page.waitForFunction(() => {
  const main = document.querySelector('main');
  return main.children.length > 0 && !document.querySelector('[aria-busy], .waiting');
});
