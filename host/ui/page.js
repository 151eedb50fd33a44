// Selects the view by the part of the address after `#`, so that every view has a link and the back button works.

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

/** The number of the current visit, by which late responses are discarded. */
let currentVisit = 0;

/** What a view is given: its element, the parsed address, and announcements for screen readers. */
class Visit {
  constructor(name, rest, parameters) {
    this.number = ++currentVisit;
    Object.assign(this, { name, rest, parameters, main });
  }

  get isStale() {
    return this.number !== currentVisit;
  }

  title(text) {
    document.title = `${text} · skillcell`;
  }

  announce(text) {
    document.getElementById('status').textContent = text;
  }
}

function parse(hash) {
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
  const visit = new Visit(...parse(location.hash));
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
    if (!visit.isStale) fail(error);
  } finally {
    if (!visit.isStale) main.removeAttribute('aria-busy');
  }
}

function fail(error) {
  main.replaceChildren(
    make('div', { class: 'page' },
      failure(error, make('h1', {}, 'This view cannot be shown')),
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
