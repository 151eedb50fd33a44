// Intl for English and UTC: formatting of numbers, dates and lists.

function group(digits) {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

const currencies = { USD: '$', EUR: '€', GBP: '£', JPY: '¥', INR: '₹', CNY: 'CN¥', KRW: '₩', BRL: 'R$', CAD: 'CA$', AUD: 'A$', MXN: 'MX$' };

function formatNumber(value, options = {}) {
  if (typeof value === 'bigint') return group(`${value}`);
  value = Number(value);
  if (Number.isNaN(value)) return 'NaN';
  const { style = 'decimal', currency = 'USD', notation, useGrouping = true } = options;
  const isMoney = style === 'currency';
  const cents = isMoney ? (currency === 'JPY' || currency === 'KRW' ? 0 : 2) : 0;
  let least = options.minimumFractionDigits ?? (isMoney ? cents : 0);
  let most = options.maximumFractionDigits ?? Math.max(least, isMoney ? cents : style === 'percent' ? 0 : 3);
  least = Math.min(least, most);
  let number = Math.abs(style === 'percent' ? value * 100 : value);
  let suffix = style === 'percent' ? '%' : '';
  if (style === 'unit') suffix = ` ${unitName(options.unit, options.unitDisplay, number)}`;
  if (notation === 'compact') {
    const step = [[1e12, 'T'], [1e9, 'B'], [1e6, 'M'], [1e3, 'K']].find(([size]) => number >= size);
    if (step) [number, suffix] = [number / step[0], step[1] + suffix];
    if (options.maximumFractionDigits === undefined) most = number < 100 ? (number < 10 ? 1 : number % 1 === 0 ? 0 : 0) : 0;
  }
  let digits;
  if (number === Infinity) digits = '∞';
  else if (options.maximumSignificantDigits !== undefined && number !== 0) digits = `${Number(number.toPrecision(options.maximumSignificantDigits))}`;
  else digits = rounded(number, most);
  let [whole, fraction = ''] = digits.split('.');
  while (fraction.length > least && fraction.endsWith('0')) fraction = fraction.slice(0, -1);
  whole = whole.padStart(options.minimumIntegerDigits ?? 1, '0');
  const text = `${useGrouping === false ? whole : group(whole)}${fraction === '' ? '' : `.${fraction.padEnd(least, '0')}`}${suffix}`;
  const sign = value < 0 || Object.is(value, -0) ? '-' : options.signDisplay === 'always' || (options.signDisplay === 'exceptZero' && value > 0) ? '+' : '';
  if (!isMoney) return sign + text;
  if (options.currencyDisplay === 'code') return `${sign}${currency} ${text}`;
  return `${sign}${currencies[currency] ?? `${currency} `}${text}`;
}

// Rounds half away from zero, based on the decimal text: 1.005 is a half, although its double is a little less.
function rounded(number, places) {
  if (number >= 1e21) return BigInt(Math.round(number)).toString();
  const [mantissa, exponent = '0'] = `${number}`.split('e');
  const shifted = Math.round(Number(`${mantissa}e${Number(exponent) + places}`));
  const [whole, power = '0'] = `${shifted}`.split('e');
  return Number(`${whole}e${Number(power) - places}`).toFixed(places);
}

function unitName(unit, display, number) {
  const short = { kilometer: 'km', meter: 'm', kilobyte: 'kB', megabyte: 'MB', gigabyte: 'GB', byte: 'byte', second: 'sec', minute: 'min', hour: 'hr', day: number === 1 ? 'day' : 'days', percent: '%', celsius: '°C', kilogram: 'kg' };
  return display === 'long' ? `${unit}${number === 1 ? '' : 's'}` : short[unit] ?? unit;
}

class NumberFormat {
  #options;

  constructor(locale, options) {
    this.#options = options ?? {};
    this.format = (value) => formatNumber(value, this.#options);
  }

  formatToParts(value) {
    return [{ type: 'literal', value: this.format(value) }];
  }

  resolvedOptions() {
    return { locale: 'en-US', numberingSystem: 'latn', style: 'decimal', ...this.#options };
  }
}

const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const presets = {
  date: { full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, long: { year: 'numeric', month: 'long', day: 'numeric' }, medium: { year: 'numeric', month: 'short', day: 'numeric' }, short: { year: '2-digit', month: 'numeric', day: 'numeric' } },
  time: { full: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' }, long: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' }, medium: { hour: 'numeric', minute: '2-digit', second: '2-digit' }, short: { hour: 'numeric', minute: '2-digit' } },
};
const datePieces = ['weekday', 'year', 'month', 'day'];
const timePieces = ['hour', 'minute', 'second', 'fractionalSecondDigits', 'dayPeriod'];

function settle(options, wanted) {
  const result = { ...options };
  if (result.dateStyle) Object.assign(result, presets.date[result.dateStyle]);
  if (result.timeStyle) Object.assign(result, presets.time[result.timeStyle]);
  if (result.dateStyle || result.timeStyle) return result;
  const has = (names) => names.some((name) => result[name] !== undefined);
  const needsDate = wanted !== 'time' && !has(wanted === 'date' ? datePieces : [...datePieces, ...timePieces]);
  const needsTime = wanted !== 'date' && !has(wanted === 'time' ? timePieces : [...datePieces, ...timePieces]);
  if (needsDate) Object.assign(result, { year: 'numeric', month: 'numeric', day: 'numeric' });
  if (needsTime) Object.assign(result, { hour: 'numeric', minute: '2-digit', second: '2-digit' });
  return result;
}

function formatDate(value, options, locale) {
  const date = value === undefined ? new Date() : new Date(value);
  if (Number.isNaN(date.getTime())) throw new RangeError('Invalid time value');
  const shown = (number, width) => (width === '2-digit' ? `${number % 100}`.padStart(2, '0') : `${number}`);
  const name = (list, index, width) => (width === 'short' ? list[index].slice(0, 3) : width === 'narrow' ? list[index][0] : list[index]);
  const { year, month, day, weekday, hour, minute, second } = options;
  const isNamed = month === 'long' || month === 'short' || month === 'narrow';
  const parts = [];
  if (isNamed) {
    const first = [weekday && name(days, date.getUTCDay(), weekday), [name(months, date.getUTCMonth(), month), day && shown(date.getUTCDate(), day)].filter(Boolean).join(' '), year && day && shown(date.getUTCFullYear(), year)];
    let text = first.filter(Boolean).join(', ');
    if (year && !day) text += ` ${shown(date.getUTCFullYear(), year)}`;
    parts.push(text);
  } else if (year || month || day) {
    const british = /^en-(GB|AU|NZ|IN)/.test(locale ?? '');
    const pieces = british
      ? [day && shown(date.getUTCDate(), '2-digit'), month && shown(date.getUTCMonth() + 1, '2-digit'), year && shown(date.getUTCFullYear(), year)]
      : [month && shown(date.getUTCMonth() + 1, month), day && shown(date.getUTCDate(), day), year && shown(date.getUTCFullYear(), year)];
    const iso = /^(sv|en-CA|fr-CA)/.test(locale ?? '') && year && month && day;
    const text = iso ? date.toISOString().slice(0, 10) : pieces.filter(Boolean).join('/');
    parts.push(weekday ? `${name(days, date.getUTCDay(), weekday)}, ${text}` : text);
  } else if (weekday) {
    parts.push(name(days, date.getUTCDay(), weekday));
  }
  if (hour || minute || second) {
    const twelve = options.hour12 ?? (options.hourCycle ? options.hourCycle.startsWith('h1') : !/^(en-GB|de|fr|sv|es)/.test(locale ?? ''));
    const hours = twelve ? date.getUTCHours() % 12 || 12 : date.getUTCHours();
    const pieces = [
      hour && (twelve ? shown(hours, hour) : `${hours}`.padStart(2, '0')),
      minute && (hour || second ? `${date.getUTCMinutes()}`.padStart(2, '0') : `${date.getUTCMinutes()}`),
      second && (minute ? `${date.getUTCSeconds()}`.padStart(2, '0') : `${date.getUTCSeconds()}`),
    ];
    let text = pieces.filter(Boolean).join(':');
    if (options.fractionalSecondDigits) text += `.${`${date.getUTCMilliseconds()}`.padStart(3, '0').slice(0, options.fractionalSecondDigits)}`;
    if (hour && twelve) text += ` ${date.getUTCHours() < 12 ? 'AM' : 'PM'}`;
    if (options.timeZoneName) text += ' UTC';
    parts.push(text);
  }
  return parts.join(isNamed && (options.dateStyle === 'long' || options.dateStyle === 'full') ? ' at ' : ', ');
}

class DateTimeFormat {
  #options;
  #locale;

  constructor(locale, options) {
    this.#locale = Array.isArray(locale) ? locale[0] : locale;
    this.#options = settle(options, 'date');
    this.format = (value) => formatDate(value, this.#options, this.#locale);
  }

  formatToParts(value) {
    return [{ type: 'literal', value: this.format(value) }];
  }

  resolvedOptions() {
    return { locale: 'en-US', calendar: 'gregory', numberingSystem: 'latn', timeZone: 'UTC', ...this.#options };
  }
}

class Collator {
  constructor(locale, options) {
    this.compare = (left, right) => `${left}`.localeCompare(right, locale, options);
  }
}

class PluralRules {
  #ordinal;

  constructor(locale, options) {
    this.#ordinal = options?.type === 'ordinal';
  }

  select(number) {
    if (!this.#ordinal) return number === 1 ? 'one' : 'other';
    const [ten, hundred] = [number % 10, number % 100];
    return ten === 1 && hundred !== 11 ? 'one' : ten === 2 && hundred !== 12 ? 'two' : ten === 3 && hundred !== 13 ? 'few' : 'other';
  }
}

class ListFormat {
  #word;

  constructor(locale, options) {
    this.#word = options?.type === 'disjunction' ? 'or' : 'and';
  }

  format(list) {
    const items = [...list];
    if (items.length < 3) return items.join(` ${this.#word} `);
    return `${items.slice(0, -1).join(', ')}, ${this.#word} ${items.at(-1)}`;
  }
}

class RelativeTimeFormat {
  #auto;

  constructor(locale, options) {
    this.#auto = options?.numeric === 'auto';
  }

  format(value, unit) {
    const name = unit.replace(/s$/, '');
    if (this.#auto && name === 'day' && [-1, 0, 1].includes(value)) return ['yesterday', 'today', 'tomorrow'][value + 1];
    const text = `${formatNumber(Math.abs(value))} ${name}${Math.abs(value) === 1 ? '' : 's'}`;
    return value < 0 || Object.is(value, -0) ? `${text} ago` : `in ${text}`;
  }
}

class Segmenter {
  #granularity;

  constructor(locale, options) {
    this.#granularity = options?.granularity ?? 'grapheme';
  }

  segment(text) {
    const pattern = this.#granularity === 'word' ? /[\p{L}\p{N}_']+|[^\p{L}\p{N}_']/gu : this.#granularity === 'sentence' ? /[^.!?]+[.!?]*\s*/gu : /\P{M}\p{M}*/gu;
    return Array.from(text.matchAll(pattern), (match) => ({ segment: match[0], index: match.index, input: text, isWordLike: /[\p{L}\p{N}]/u.test(match[0]) }));
  }
}

const callable = (type) => new Proxy(type, { apply: (target, self, values) => new type(...values) });

module.exports = {
  NumberFormat: callable(NumberFormat),
  DateTimeFormat: callable(DateTimeFormat),
  Collator: callable(Collator),
  PluralRules,
  ListFormat,
  RelativeTimeFormat,
  Segmenter,
  getCanonicalLocales: (locales) => [locales ?? []].flat(),
};
// Called by the prototypes of numbers and dates; not part of the public Intl.
const hidden = {
  numberToLocaleString(locale, options) {
    return formatNumber(this.valueOf(), options ?? {});
  },
  dateToLocaleString(locale, options) {
    return dateText(this, options, 'any', locale);
  },
  dateToLocaleDateString(locale, options) {
    return dateText(this, options, 'date', locale);
  },
  dateToLocaleTimeString(locale, options) {
    return dateText(this, options, 'time', locale);
  },
};
for (const [name, value] of Object.entries(hidden)) Object.defineProperty(module.exports, name, { value });

function dateText(date, options, wanted, locale) {
  return Number.isNaN(date.getTime()) ? 'Invalid Date' : formatDate(date, settle(options, wanted), Array.isArray(locale) ? locale[0] : locale);
}
