/**
 * Reading templates. A fault is told by line and column, with what would be right.
 *
 * `{{path}}`, `{{json path}}`, `{{#each path}}…{{else}}…{{/each}}`, `{{#if path}}…{{else}}…{{/if}}`, `{{!-- comment --}}`; `\{{` stands
 * for `{{`, and `\\{{` for a backslash before a tag. As in Mustache and Handlebars, a line with nothing but a tag of a block or a
 * comment on it leaves nothing behind (mustache/spec: specs/sections.yml, "Standalone Lines"). Used when triggers are written and by
 * `compile-hook.ts`. One pass over the text.
 */
import { limits } from '../../limits.ts';
import { quoted, type Issue } from '../../problem.ts';
import type { TriggerKind } from '../delivery.ts';
import { parsePath } from './template-path.ts';
import type { Template, TemplateNode, TemplatePath } from './template.ts';
import { readTags, type Tag } from './template-tags.ts';

/** `path` of the issue: the field of the document. `kind`: of a schedule there is no event to name anything in. */
export function parseTemplate(text: string, path: string, kind: TriggerKind = 'webhook'): { template: Template } | { issue: Issue } {
  try {
    return { template: { nodes: buildNodes(text, kind) } };
  } catch (error) {
    if (!(error instanceof TemplateFault)) throw error;
    return { issue: { path, message: `${placeOf(text, error.at)}: ${error.message}` } };
  }
}

/** Thrown within this file only. */
class TemplateFault extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

type BlockName = 'each' | 'if';
type Block = { name: BlockName; path: TemplatePath; at: number; body: TemplateNode[]; otherwise: TemplateNode[] | null };

function buildNodes(text: string, kind: TriggerKind): TemplateNode[] {
  const nodes: TemplateNode[] = [];
  const open: Block[] = [];
  /** Where what comes next belongs. */
  const into = (): TemplateNode[] => {
    const block = open.at(-1);
    return block === undefined ? nodes : (block.otherwise ?? block.body);
  };
  for (const piece of readTags(text)) {
    if (piece.kind === 'fault') throw new TemplateFault(piece.message, piece.at);
    else if (piece.kind === 'text') into().push({ kind: 'text', text: piece.text });
    else takeTag(piece, { kind, open }, into);
  }
  const unclosed = open.at(-1);
  if (unclosed !== undefined) throw new TemplateFault(`{{#${unclosed.name}}} is never closed: write {{/${unclosed.name}}}`, unclosed.at);
  return nodes;
}

/** Whose template it is, and the blocks that a tag stands in. */
type Place = { kind: TriggerKind; open: Block[] };

function takeTag(tag: Tag, place: Place, into: () => TemplateNode[]): void {
  const { inner, at } = tag;
  const { open } = place;
  if (inner.startsWith('#')) openBlock(tag, place);
  else if (inner.startsWith('/')) closeBlock(tag, open, into);
  else if (inner === 'else') beginElse(tag, open);
  else if (/^else\s/.test(inner)) throw new TemplateFault('{{else}} takes nothing: put another {{#if}} into it', at);
  else into().push(valueNode(tag, place));
}

function valueNode({ inner, at, innerAt }: Tag, place: Place): TemplateNode {
  const json = /^json\s+(?=\S)/.exec(inner);
  const path = pathOf(inner.slice(json?.[0].length ?? 0), innerAt + (json?.[0].length ?? 0), at, place);
  return { kind: 'value', path, json: json !== null };
}

function pathOf(text: string, textAt: number, tagAt: number, { kind, open }: Place): TemplatePath {
  const parsed = parsePath(text, { kind, inEach: open.some(({ name }) => name === 'each') });
  if ('path' in parsed) return parsed.path;
  throw new TemplateFault(
    text === '' ? parsed.fault : `the path ${quoted(text)} ${parsed.fault}`,
    text === '' ? tagAt : textAt + parsed.at,
  );
}

function openBlock({ inner, at, innerAt }: Tag, place: Place): void {
  const { open } = place;
  const [, word = '', blank = ''] = /^#\s*([^\s]*)(\s*)/.exec(inner) ?? [];
  if (word !== 'each' && word !== 'if') throw new TemplateFault(`there is no helper ${quoted(`#${word}`)}: there are #each and #if`, at);
  const offset = inner.indexOf(word) + word.length + blank.length;
  const rest = inner.slice(offset);
  if (rest === '') throw new TemplateFault(`{{#${word}}} needs a path, as in {{#${word} items}}`, at);
  if (open.length === limits.maxTemplateDepth)
    throw new TemplateFault(`blocks stand more than ${limits.maxTemplateDepth} deep in one another`, at);
  // Its own `@index` is not known yet.
  open.push({ name: word, path: pathOf(rest, innerAt + offset, at, place), at, body: [], otherwise: null });
}

function closeBlock({ inner, at }: Tag, open: Block[], into: () => TemplateNode[]): void {
  const name = inner.slice(1).trim();
  const block = open.at(-1);
  if (block === undefined) throw new TemplateFault(`{{/${short(name)}}} closes nothing: there is no {{#${short(name)}}} before it`, at);
  if (block.name !== name)
    throw new TemplateFault(`{{/${short(name)}}} stands where {{#${block.name}}} has to be closed: write {{/${block.name}}}`, at);
  open.pop();
  into().push({ kind: block.name, path: block.path, body: block.body, otherwise: block.otherwise ?? [] });
}

function beginElse({ at }: Tag, open: readonly Block[]): void {
  const block = open.at(-1);
  if (block === undefined)
    throw new TemplateFault('{{else}} stands in no {{#each}} and no {{#if}}; a field of that name is {{["else"]}}', at);
  if (block.otherwise !== null) throw new TemplateFault(`this {{#${block.name}}} has an {{else}} already`, at);
  block.otherwise = [];
}

function short(name: string): string {
  return name.length > limits.maxQuotedLength ? `${name.slice(0, limits.maxQuotedLength)}…` : name;
}

/** Lines and columns as editors count them, from 1. */
function placeOf(text: string, at: number): string {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  return `line ${before.split('\n').length}, column ${at - lineStart + 1}`;
}
