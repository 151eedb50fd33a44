// Which view is shown: the part of the address after `#` says it, so that every view has a link and a way back.

import { showAsk } from './ask.js';
import { showAudit } from './audit.js';
import { showCatalog } from './catalog.js';
import { showGrants } from './grants.js';
import { failure, make } from './make.js';
import { showUsage } from './usage.js';

const VIEWS = {
  catalog: { title: 'Catalog', show: showCatalog },
  skill: { title: 'Skill', show: showCatalog, tab: 'catalog' },
  ask: { title: 'Ask', show: showAsk },
  grants: { title: 'Grants', show: showGrants },
  audit: { title: 'Audit', show: showAudit },
  usage: { title: 'Usage', show: showUsage },
};

const main = document.getElementById('main');

/** Grows with every change of the address, so that an answer that comes too late is not shown. */
let turn = 0;

/** What a view is given: its place, what the address says, and how to tell things to whoever cannot see. */
class Visit {
  constructor(name, rest, parameters) {
    this.turn = ++turn;
    Object.assign(this, { name, rest, parameters, main });
  }

  get isOver() {
    return this.turn !== turn;
  }

  title(text) {
    document.title = `${text} · skillcell`;
  }

  tell(text) {
    document.getElementById('said').textContent = text;
  }
}

function read(hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [name, ...rest] = path.split('/');
  const decoded = text => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  return [name || 'catalog', rest.map(decoded).join('/'), new URLSearchParams(query)];
}

async function show() {
  const visit = new Visit(...read(location.hash));
  const view = VIEWS[visit.name];
  if (!view) {
    location.replace('#/');
    return;
  }
  for (const link of document.querySelectorAll('nav[aria-label=Views] a')) {
    if (link.dataset.view === (view.tab ?? visit.name)) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (main.dataset.view !== (view.tab ?? visit.name)) {
    main.replaceChildren();
    main.dataset.view = view.tab ?? visit.name;
    window.scrollTo(0, 0);
  }
  visit.title(view.title);
  main.setAttribute('aria-busy', 'true');
  try {
    await view.show(visit);
  } catch (error) {
    if (!visit.isOver) fail(error);
  } finally {
    if (!visit.isOver) main.removeAttribute('aria-busy');
  }
}

function fail(error) {
  main.replaceChildren(
    make('div', { class: 'page' },
      failure(error, make('h1', {}, 'This cannot be shown')),
      make('button', { type: 'button', onclick: show }, 'Try again'),
    ),
  );
  delete main.dataset.view;
}

document.getElementById('skip').addEventListener('click', event => {
  event.preventDefault();
  main.focus();
});
window.addEventListener('hashchange', show);
show();
