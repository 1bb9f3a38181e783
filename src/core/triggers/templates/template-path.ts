/**
 * Paths of templates: `issue.labels.0.name`, `items[0]["odd key"]`, `this.id`, `@headers.x-github-event`. What they begin at and
 * which steps they take is read here, once; what they name in an event is looked up by `template-lookup.ts`.
 *
 * A step is a name of letters, digits and `_ $ + : -`, a number, or any text in brackets and quotes (`["odd key"]`, with `\` before a
 * quote or a backslash). There is no way up (`../`): fields of the event are named from its root everywhere.
 */
import { limits } from '../../limits.ts';
import { quoted } from '../../problem.ts';
import type { TriggerKind } from '../delivery.ts';
import type { TemplatePath } from './template.ts';

/** Values of ours, which begin with `@`. `index` is known within `{{#each}}` only. */
const ownNames: Readonly<Record<TriggerKind, readonly string[]>> = {
  webhook: ['delivery', 'event', 'webhook', 'time', 'headers', 'body', 'index'],
  schedule: ['delivery', 'schedule', 'time'],
};

/** `at`: where in the text the fault is. */
export type PathFault = { fault: string; at: number };

/** Whose template it is, and whether it stands within `{{#each}}`, where `@index` has a meaning. */
export type PathPlace = { kind: TriggerKind; inEach: boolean };

export function parsePath(text: string, place: PathPlace): { path: TemplatePath } | PathFault {
  if (text === '') return { fault: 'names nothing: write a path, such as {{issue.title}}', at: 0 };
  if (text.startsWith('.')) return { fault: dotFault(text), at: 0 };
  const isOwn = text.startsWith('@');
  const read = readSteps(text, isOwn ? 1 : 0);
  if ('fault' in read) return read;
  const { steps } = read;
  // In an `{{#each}}` within another it would be walked a million times, for nothing.
  if (steps.length > limits.maxJsonDepth)
    return { fault: `has ${steps.length} steps, and an event nests ${limits.maxJsonDepth} deep at most`, at: 0 };
  if (isOwn) return ownPath(text, steps, place);
  // Told when it is written: else every run would say it, or fail of it.
  if (place.kind === 'schedule') return { fault: `is of an event, and a schedule has none; there are ${ownList('schedule')}`, at: 0 };
  // `["this"]` is a field of that name.
  if (/^this(?:[.[]|$)/.test(text)) return { path: { text, from: 'this', steps: steps.slice(1) } };
  return { path: { text, from: 'event', steps } };
}

function dotFault(text: string): string {
  if (text.startsWith('..')) return 'has no way up with ../: fields of the event are named from its root, within {{#each}} too';
  return 'begins with a dot: write {{this}}, or the name of a field';
}

function ownPath(text: string, steps: readonly (string | number)[], { kind, inEach }: PathPlace): { path: TemplatePath } | PathFault {
  const [name, ...rest] = steps;
  if (!ownNames[kind].some((known) => known === name))
    return { fault: `is no value of ours; of a ${kind} there are ${ownList(kind)}`, at: 0 };
  if (name === 'index' && !inEach) return { fault: 'is known within {{#each}} only', at: 0 };
  // Names of headers are the same in every case.
  const lower = name === 'headers' ? rest.map((step) => String(step).toLowerCase()) : rest;
  return { path: { text, from: 'own', steps: [String(name), ...lower] } };
}

function ownList(kind: TriggerKind): string {
  return ownNames[kind].map((known) => `@${known}`).join(', ');
}

const bareStep = /[\p{L}\p{M}\p{N}_$+:-]+/uy;
const bracketStep = /\[(?:(\d+)|"((?:[^"\\]|\\["\\])*)"|'((?:[^'\\]|\\['\\])*)')\]/uy;

function readSteps(text: string, from: number): { steps: (string | number)[] } | PathFault {
  const steps: (string | number)[] = [];
  let at = from;
  while (at < text.length) {
    const bracket = matchAt(bracketStep, text, at);
    if (bracket !== null) {
      const [whole, index, double, single] = bracket;
      steps.push(index === undefined ? (double ?? single ?? '').replace(/\\(["'\\])/g, '$1') : numberOr(index));
      at += whole.length;
      continue;
    }
    if (text.charAt(at) === '[') return { fault: 'has a bracket that does not close: write ["a name"] or [0]', at };
    if (at > from) {
      if (text.charAt(at) !== '.') return stepFault(text, at);
      at += 1;
    }
    const step = matchAt(bareStep, text, at);
    if (step === null) return stepFault(text, at);
    steps.push(numberOr(step[0]));
    at += step[0].length;
  }
  return steps.length === 0 ? { fault: 'names nothing after the @', at: from } : { steps };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function stepFault(text: string, at: number): PathFault {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  if (at >= text.length) return { fault: 'ends with a dot', at: at - 1 };
  if (character === '.') return { fault: 'has two dots with no name between', at };
  if (/\s/.test(character))
    return { fault: `has a blank in it: the only helper before a path is json; a name with blanks stands as ["a name"]`, at };
  return { fault: `has a ${quoted(character)} in it: write the name as ["a name"]`, at };
}

/** `0` and `12` are numbers; `007` is a name. */
function numberOr(step: string): string | number {
  return /^(?:0|[1-9]\d{0,14})$/.test(step) ? Number(step) : step;
}
