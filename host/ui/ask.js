// A task, the skill that `get_skill` would answer with, and the score of each candidate.

import { catalog } from './catalog.js';
import { badge, counted, empty, failure, make, namedSkill, sentence, skillLink, untrusted } from './make.js';
import { fetchJson } from './server.js';

// The server accepts URLs of about 16,000 bytes, and an encoded character takes up to nine.
const MAX_TASK_LENGTH = 1500;

export async function showAsk(visit) {
  if (!visit.main.querySelector('.ask')) buildForm(visit);
  const task = visit.parameters.get('task') ?? '';
  const box = visit.main.querySelector('#task');
  const result = visit.main.querySelector('.result');
  if (box.value.trim() !== task) box.value = task;
  if (task === '') {
    result.replaceChildren(make('p', { class: 'faint' }, 'This only shows the ranking: nothing is served, counted or run.'));
    box.focus();
    return;
  }
  visit.title(`Ask: ${task}`);
  result.classList.add('waiting');
  try {
    const [answer, all] = await Promise.all([fetchJson('rank', { task }), catalog()]);
    if (!visit.isStale) result.replaceChildren(...ranking(visit, answer, all));
  } catch (error) {
    if (visit.isStale) return;
    result.replaceChildren(failure(error));
  } finally {
    result.classList.remove('waiting');
  }
}

function buildForm(visit) {
  const submit = event => {
    event.preventDefault();
    const task = visit.main.querySelector('#task').value.trim();
    if (task) location.hash = `#/ask?${new URLSearchParams({ task })}`;
  };
  const box = make('textarea', {
    id: 'task', rows: 2, maxlength: MAX_TASK_LENGTH, placeholder: 'build a React login form component', spellcheck: 'false',
    onkeydown: event => {
      if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event);
    },
  });
  visit.main.replaceChildren(make('article', { class: 'ask page' },
    make('h1', {}, 'Which skill matches a task?'),
    make('form', { onsubmit: submit },
      make('label', { for: 'task' }, 'The task, as an agent would phrase it'),
      make('div', { class: 'asking' }, box, make('button', { type: 'submit' }, 'Rank')),
    ),
    make('div', { class: 'result' }),
  ));
}

function ranking(visit, answer, all) {
  const { explain } = answer;
  const offered = new Set(answer.ambiguous ? answer.candidates.map(candidate => candidate.skill_path) : [answer.skill_path]);
  const descriptions = new Map(all.nodes.map(node => [node.path, node.description]));
  const rows = explain.candidates.map((candidate, index) => row(candidate, index, { answer, explain, offered, descriptions }));
  visit.announce(verdictText(answer));
  return [
    verdict(answer),
    rows.length === 0
      ? empty('No scorer found a match', make('p', {}, 'Rephrase the task, or browse the ', make('a', { href: '#/' }, 'catalog'), '.'))
      : make('ol', { class: 'ranking' }, rows),
    reasons(explain),
    ...explain.failures.map(({ scorer, reason }) => make('div', { class: 'notice bad' }, make('p', {}, make('strong', {}, untrusted(scorer)), ' failed: ', sentence(reason)))),
  ];
}

function verdictText(answer) {
  if (answer.no_match) return 'No skill matches.';
  if (answer.ambiguous) return `${counted(answer.candidates.length, 'skill')} match about equally well, so the model is asked to choose.`;
  return `The answer is ${answer.skill_path}, with a score of ${answer.score.toFixed(3)}.`;
}

function verdict(answer) {
  if (answer.no_match || answer.ambiguous) return make('p', { class: `verdict ${answer.no_match ? 'none' : 'several'}` }, verdictText(answer));
  return make('p', { class: 'verdict one' }, 'The answer is ', skillLink(answer.skill_path), ` with a score of ${answer.score.toFixed(3)}.`);
}

function row(candidate, index, { answer, explain, offered, descriptions }) {
  const isOffered = offered.has(candidate.skill_path);
  // The tolerance of the engine.
  const tooLow = candidate.score < candidate.min_score - 1e-9;
  const mark = isOffered ? badge(answer.ambiguous ? 'offered' : 'answer', 'good') : tooLow && badge('score too low');
  const description = descriptions.get(candidate.skill_path);
  const scores = candidate.scores.map(entry => {
    const decides = entry.scorer === explain.scorer;
    return make('tr', { class: decides && 'decides' },
      make('th', { scope: 'row' }, untrusted(entry.scorer), decides && make('span', { class: 'unseen' }, ' (decides)')),
      make('td', { class: 'bar-cell' }, bar(entry.score, decides ? candidate.min_score : null)),
      make('td', { class: 'number' }, entry.score.toFixed(3)),
      make('td', { class: 'reason' }, untrusted(entry.reason)),
    );
  });
  const head = ['Scorer', 'Share', 'Score', 'Reason'].map(name => make('th', { scope: 'col' }, name));
  return make('li', { class: tooLow && 'too-low' },
    make('div', { class: 'row-head' },
      make('span', { class: 'place', 'aria-hidden': 'true' }, String(index + 1)),
      namedSkill(candidate.skill_path),
      mark,
    ),
    description && make('p', {}, untrusted(description)),
    make('table', { class: 'scores' },
      make('colgroup', {}, ['scorer', 'share', 'number', 'reason'].map(name => make('col', { class: name }))),
      make('thead', { class: 'unseen' }, make('tr', {}, head)),
      make('tbody', {}, scores),
    ),
  );
}

function bar(score, threshold) {
  const fill = make('span', { class: 'fill' });
  fill.style.setProperty('--share', score);
  const tick = threshold !== null && make('span', { class: 'tick' });
  if (tick) tick.style.setProperty('--share', threshold);
  return make('span', { class: 'bar', 'aria-hidden': 'true' }, fill, tick);
}

/** The thresholds that led to the answer. */
function reasons({ scorer, thresholds, candidates }) {
  const { min_score: minScore, ambiguity_threshold: lead, max_results: maxResults } = thresholds;
  const [best, second] = candidates;
  return make('dl', { class: 'facts reasons' }, [
    ['decides', make('strong', {}, untrusted(scorer))],
    ['min_score', `an answer needs a score of ${minScore}${best ? ', marked in the bars' : ''}`],
    ['ambiguity_threshold', `and a lead of ${lead}; with less, up to ${Math.max(2, maxResults)} are offered to choose from`],
    best && second && ['here', `the best has ${best.score.toFixed(3)} and leads by ${(best.score - second.score).toFixed(3)}`],
  ].filter(Boolean).map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))));
}
