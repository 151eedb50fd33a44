// Long lists, a page at a time, so that no document grows with the library.

import { make } from './make.js';

/** Rows of a page. */
const PAGE_SIZE = 25;

/** A list of rows. If it has more than a page of them, buttons above it lead to the others. */
export function rows(items, row, { label, name = 'ul', kind = 'rows', size = PAGE_SIZE }) {
  const list = make(name, { class: kind });
  return make('div', { class: 'paged' },
    pages(items.length, (from, to) => list.replaceChildren(...items.slice(from, to).map(row)), { label, size }),
    list,
  );
}

/** Shows the first page, and returns the buttons that show the others; `null` if there are none. */
export function pages(count, show, { label, size = PAGE_SIZE }) {
  const position = make('span', { class: 'position', role: 'status' });
  const last = Math.max(0, Math.ceil(count / size) - 1);
  let current = 0;
  const turn = page => {
    current = Math.min(Math.max(page, 0), last);
    show(current * size, Math.min((current + 1) * size, count));
    position.textContent = span(current * size, size, count);
    // A button that is `disabled` would lose the focus.
    steps.forEach(step => step.setAttribute('aria-disabled', String(Math.min(Math.max(step.page(), 0), last) === current)));
  };
  const step = (text, title, page) => Object.assign(
    make('button', { type: 'button', class: 'quiet', 'aria-label': `${title} of ${label}`, onclick: () => turnTo(page()) }, text), { page },
  );
  const steps = [
    step('«', 'First page', () => 0),
    step('‹ Previous', 'Previous page', () => current - 1),
    step('Next ›', 'Next page', () => current + 1),
    step('»', 'Last page', () => last),
  ];
  const turnTo = page => {
    turn(page);
    showStart(pager.parentElement);
  };
  const pager = make('div', { class: 'pager', role: 'group', 'aria-label': `Pages of ${label}` }, steps.slice(0, 2), position, steps.slice(2));
  turn(0);
  return last > 0 ? pager : null;
}

/** Scrolls to the first row of a page, if it is out of sight. */
export function showStart(paged) {
  if (paged.getBoundingClientRect().top < parseFloat(getComputedStyle(paged).scrollMarginTop)) paged.scrollIntoView({ block: 'start' });
}

/** `26–50 of 375`. */
export const span = (from, size, count) => {
  const text = number => number.toLocaleString('en');
  return `${text(Math.min(from + 1, count))}–${text(Math.min(from + size, count))} of ${text(count)}`;
};
