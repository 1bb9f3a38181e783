/**
 * Parses the templates of triggers. Used when a trigger is written or compiled.
 *
 * Tags: `{{path}}`, `{{json path}}`, `{{#each path}}…{{else}}…{{/each}}`, `{{#if path}}…{{else}}…{{/if}}`, `{{! comment }}` and
 * `{{!-- comment with }} --}}`. `\{{` is a literal `{{`, `\\{{` a backslash before a tag. As in Mustache and Handlebars, a line that has
 * only a block tag or a comment leaves no line in the result (mustache/spec: specs/sections.yml, "Standalone Lines").
 *
 * Paths: `issue.labels.0.name`, `items[0]["odd key"]`, `this.id`, `@headers.x-github-event`. Fields start at the root of the event,
 * also inside `{{#each}}`; there is no `../`.
 */
import { limits } from '../../limits/limits.ts';
import { quoted, type Issue } from '../../problem.ts';
import type { TriggerKind } from '../../turn/turn-trigger.ts';

export type Template = { readonly nodes: readonly TemplateNode[] };

/** `json`: the value is written as JSON. */
export type TemplateNode =
  | { kind: 'text'; text: string }
  | { kind: 'value'; path: TemplatePath; json: boolean }
  | { kind: 'each' | 'if'; path: TemplatePath; body: readonly TemplateNode[]; otherwise: readonly TemplateNode[] };

/** `text` is the path as written. `own`: a path that begins with `@`; `this`: the item of an `{{#each}}`, or the event outside of one. */
export type TemplatePath = { text: string; from: 'event' | 'this' | 'own'; steps: readonly (string | number)[] };

/** `path`: the field of the document, for the issue. A template of a `schedule` has no event to read from. One pass over the text. */
export function parseTemplate(text: string, path: string, kind: TriggerKind = 'webhook'): { template: Template } | { issue: Issue } {
  try {
    return { template: { nodes: parseNodes(text, kind) } };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const before = text.slice(0, error.at);
    const place = `line ${before.split('\n').length}, column ${error.at - before.lastIndexOf('\n')}`;
    return { issue: { path, message: `${place}: ${error.message}` } };
  }
}

/** Thrown in this file only. `at`: the index in the template. */
class TemplateError extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

const syntax =
  'write {{path}}, {{json path}}, {{#each path}}…{{/each}}, {{#if path}}…{{else}}…{{/if}} or {{!-- comment --}}, and \\{{ for the braces themselves';

type Block = { kind: 'each' | 'if'; path: TemplatePath; body: TemplateNode[]; otherwise: TemplateNode[]; hasElse: boolean; at: number };

function parseNodes(text: string, kind: TriggerKind): TemplateNode[] {
  const nodes: TemplateNode[] = [];
  const open: Block[] = [];
  const push = (node: TemplateNode): void => {
    const block = open.at(-1);
    if (node.kind === 'text' && node.text === '') return;
    (block === undefined ? nodes : block.hasElse ? block.otherwise : block.body).push(node);
  };
  const pathAt = (path: string, at: number): TemplatePath => parsePath(path, at, kind, open);
  let at = 0;
  for (let begin = text.indexOf('{{'); begin >= 0; begin = text.indexOf('{{', at)) {
    let slashes = 0;
    while (begin - slashes > at && text[begin - slashes - 1] === '\\') slashes += 1;
    const isEscaped = slashes % 2 === 1;
    const tag = isEscaped ? null : readTag(text, begin);
    const line = tag === null ? null : standaloneLine(text, begin, tag, at);
    push({ kind: 'text', text: text.slice(at, line?.from ?? begin - slashes) + '\\'.repeat(slashes >> 1) });
    at = line?.to ?? tag?.end ?? begin + 2;
    if (tag === null) push({ kind: 'text', text: '{{' });
    else if (tag.inner === null) continue;
    else if (tag.inner.startsWith('#')) open.push(openBlock(tag.inner, tag.innerAt, pathAt, open.length));
    else if (tag.inner.startsWith('/')) push(closeBlock(tag.inner, begin, open));
    else if (tag.inner === 'else') startElse(begin, open.at(-1));
    else {
      const [json = ''] = /^json\s+(?=\S)/.exec(tag.inner) ?? [];
      push({ kind: 'value', path: pathAt(tag.inner.slice(json.length), tag.innerAt + json.length), json: json !== '' });
    }
  }
  push({ kind: 'text', text: text.slice(at) });
  const unclosed = open.at(-1);
  if (unclosed !== undefined) throw new TemplateError(unclosed.at, `{{#${unclosed.kind}}} is not closed: write {{/${unclosed.kind}}}`);
  return nodes;
}

function openBlock(inner: string, at: number, pathAt: (path: string, at: number) => TemplatePath, depth: number): Block {
  const [start = '', kind] = /^#\s*(each|if)(?!\S)\s*/.exec(inner) ?? [];
  if (kind !== 'each' && kind !== 'if') throw new TemplateError(at, `there is no helper ${quoted(inner)}: ${syntax}`);
  if (depth === limits.maxTemplateDepth) throw new TemplateError(at, `blocks are nested more than ${limits.maxTemplateDepth} deep`);
  return { kind, path: pathAt(inner.slice(start.length), at + start.length), body: [], otherwise: [], hasElse: false, at: at - 2 };
}

function closeBlock(inner: string, at: number, open: Block[]): TemplateNode {
  const block = open.at(-1);
  if (block === undefined) throw new TemplateError(at, `this tag closes nothing: no block is open here`);
  const { kind, path, body, otherwise } = block;
  if (inner.slice(1).trim() !== kind) throw new TemplateError(at, `{{#${kind}}} has to be closed first: write {{/${kind}}}`);
  open.pop();
  return { kind, path, body, otherwise };
}

function startElse(at: number, block: Block | undefined): void {
  if (block === undefined)
    throw new TemplateError(at, '{{else}} is not inside {{#each}} or {{#if}}; write {{["else"]}} for a field of that name');
  if (block.hasElse) throw new TemplateError(at, `this {{#${block.kind}}} already has an {{else}}`);
  block.hasElse = true;
}

/** `inner`: the trimmed text between the braces, which starts at `innerAt`; null: a comment. `end`: the index after the tag. */
type Tag = { inner: string | null; innerAt: number; end: number };

function readTag(text: string, begin: number): Tag {
  if (text.startsWith('{{!', begin)) {
    const end = text.startsWith('{{!--', begin) ? '--}}' : '}}';
    const close = text.indexOf(end, begin + 1 + end.length);
    if (close < 0) throw new TemplateError(begin, `this comment is not closed: write ${end} after it`);
    return { inner: null, innerAt: close, end: close + end.length };
  }
  const close = closingBraces(text, begin + 2);
  if (close < 0) throw new TemplateError(begin, `this {{ is not closed: write }} after it, or \\{{ for the braces themselves`);
  const between = text.slice(begin + 2, close);
  const inner = between.trim();
  if (/^[{~>^&]|~$/.test(inner)) throw new TemplateError(begin, `${quoted(`{{${inner}}}`)} has no meaning here: ${syntax}`);
  return { inner, innerAt: begin + 2 + between.length - between.trimStart().length, end: close + 2 };
}

/** The index of the next `}}` that is not inside a quoted name (`["a}}"]`); -1 if another tag or the end of the text comes first. */
function closingBraces(text: string, from: number): number {
  const stop = /\}\}|\{\{|\["(?:[^"\\]|\\.)*"\]|\['(?:[^'\\]|\\.)*'\]/g;
  stop.lastIndex = from;
  let found = stop.exec(text);
  while (found?.[0].startsWith('[')) found = stop.exec(text);
  return found?.[0] === '}}' ? found.index : -1;
}

/** The whole line around a block tag or a comment, if it has only blanks beside it; null for other tags. `least`: the end of the last tag. */
function standaloneLine(text: string, begin: number, { inner, end }: Tag, least: number): { from: number; to: number } | null {
  if (inner !== null && !/^(?:[#/]|else$)/.test(inner)) return null;
  let from = begin;
  while (from > least && isBlank(text[from - 1])) from -= 1;
  if (from > 0 && text[from - 1] !== '\n') return null;
  let to = end;
  while (isBlank(text[to])) to += 1;
  if (text.startsWith('\r\n', to)) return { from, to: to + 2 };
  return to === text.length ? { from, to } : text[to] === '\n' ? { from, to: to + 1 } : null;
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

/** The values that we provide, which begin with `@`. `index` exists inside `{{#each}}` only. */
const ownNames: Readonly<Record<TriggerKind, readonly string[]>> = {
  webhook: ['delivery', 'event', 'webhook', 'time', 'headers', 'body', 'index'],
  schedule: ['delivery', 'schedule', 'time'],
};

function parsePath(text: string, at: number, kind: TriggerKind, open: readonly Block[]): TemplatePath {
  const fail: (message: string, offset?: number) => never = (message, offset = 0) => {
    throw new TemplateError(at + offset, message);
  };
  if (text === '') fail('a path is missing: write one, such as {{issue.title}}');
  const path = `the path ${quoted(text)}`;
  const steps = readSteps(text, (offset) =>
    fail(
      `${path} cannot be read at ${quoted(text.slice(offset))}: write names with dots (issue.title) and other names as ["a name"]; there is no ../ and no helper but json`,
      offset,
    ),
  );
  // More would cost time in nested `{{#each}}` and find nothing.
  if (steps.length > limits.maxJsonDepth) fail(`${path} has ${steps.length} steps; an event is nested at most ${limits.maxJsonDepth} deep`);
  const known = ownNames[kind].map((name) => `@${name}`).join(', ');
  if (text.startsWith('@')) {
    const [name, ...rest] = steps;
    if (!ownNames[kind].some((own) => own === name)) fail(`${path} is unknown: a ${kind} has ${known}`);
    if (name === 'index' && !open.some((block) => block.kind === 'each')) fail('@index exists only inside {{#each}}');
    // Header names are the same in upper and lower case.
    return { text, from: 'own', steps: name === 'headers' ? [name, ...rest.map((step) => String(step).toLowerCase())] : steps };
  }
  if (kind === 'schedule') fail(`${path} names a field of an event, and a schedule has none: it has ${known}`);
  // `["this"]` is a field with that name.
  return /^this(?:[.[]|$)/.test(text) ? { text, from: 'this', steps: steps.slice(1) } : { text, from: 'event', steps };
}

/** A name after a dot or at the start, a number in brackets, or any text in brackets and quotes. */
const stepPattern = /(\.?)([\p{L}\p{M}\p{N}_$+:-]+)|\[(\d+)\]|\["((?:[^"\\]|\\["\\])*)"\]|\['((?:[^'\\]|\\['\\])*)'\]/uy;

function readSteps(text: string, fail: (offset: number) => never): (string | number)[] {
  const start = text.startsWith('@') ? 1 : 0;
  const steps: (string | number)[] = [];
  for (let offset = start; offset < text.length; offset = stepPattern.lastIndex) {
    stepPattern.lastIndex = offset;
    const [, dot, name, index, double, single] = stepPattern.exec(text) ?? fail(offset);
    if (name !== undefined && (dot === '.') !== offset > start) fail(offset);
    const bare = name ?? index;
    if (bare === undefined) steps.push((double ?? single ?? '').replace(/\\(["'\\])/g, '$1'));
    // `0` and `12` are numbers; `007` is a name.
    else steps.push(/^(?:0|[1-9]\d{0,14})$/.test(bare) ? Number(bare) : bare);
  }
  return steps;
}
