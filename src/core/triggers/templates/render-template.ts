/**
 * Renders templates with an event. Linear in both, and bounded: in values visited, characters read and bytes written. The mode decides
 * how values are written:
 *
 * - `input`, for an agent: values from outside are cleaned and marked (`marked-data.ts`); a path that finds nothing writes nothing and
 *   adds a warning.
 * - `key`, of a session: different values never give the same key (`session-key.ts`); a value that cannot be shown is an error.
 */
import { isDeeperThan } from '../../json/wire-value.ts';
import { limits } from '../../limits/limits.ts';
import { quoted } from '../../problem.ts';
import { visibleJson, codePointName, hiddenCharacter } from '../../text/visible-text.ts';
import { utf8Length } from '../../text/utf8.ts';
import type { Rendered } from '../delivery.ts';
import { isHarmlessWord, markData, markJson } from './marked-data.ts';
import type { Template, TemplateNode, TemplatePath } from './parse-template.ts';
import { createKeyWriter, type KeyWriter } from './session-key.ts';
import { MB } from '../../limits/units.ts';

export const maxSessionKeyLength = 512;
/** The rendered templates of a payload: an `{{#each}}` over a megabyte could produce a hundred. */
export const maxTriggerInputBytes = 1 * MB;
/** Items of one `{{#each}}`. */
const maxTemplateItems = 1_000;
/** Places visited and characters read by one rendering: a nested `{{#each}}` visits its items repeatedly. */
const maxTemplateWork = 4_000_000;
export const maxDeliveryWarnings = 20;

/** What templates and filters read. `own`: the values that begin with `@`: delivery, event, webhook, schedule, time, headers, body. */
export type TriggerScope = { payload: unknown; own: Readonly<Record<string, unknown>> };

export type RenderMode = 'input' | 'key';

export type RenderedTemplate = { text: string; warnings: string[] } | { fault: string; warnings: string[] };

/** Renders the session's key and the input of its agent. `fault`: why no turn can be started (an empty key, an input that is too long). */
export function renderTrigger(
  templates: { session: Template; input: Template },
  scope: TriggerScope,
): { rendered: Rendered } | { fault: string; warnings: string[] } {
  const input = renderTemplate(templates.input, scope, 'input');
  const key = renderTemplate(templates.session, scope, 'key');
  const warnings = [...new Set([...key.warnings, ...input.warnings])].slice(0, maxDeliveryWarnings);
  if ('fault' in key) return { fault: `Session key: ${key.fault}.`, warnings };
  if (key.text === '') return { fault: 'Session key: the template renders to nothing for this event.', warnings };
  if ('fault' in input) return { fault: `Input: ${input.fault}.`, warnings };
  if (input.text.trim() === '') return { fault: 'Input: the template renders to nothing for this event.', warnings };
  return { rendered: { sessionKey: key.text, input: input.text, warnings } };
}

export function renderTemplate(template: Template, scope: TriggerScope, mode: RenderMode): RenderedTemplate {
  const renderer = new Renderer(mode, createKeyWriter(template));
  const warnings = (): string[] => [...renderer.warnings];
  try {
    renderer.walk(template.nodes, { scope, item: scope.payload, index: null });
    return { text: renderer.chunks.join(''), warnings: warnings() };
  } catch (error) {
    if (error instanceof RenderError) return { fault: error.message, warnings: warnings() };
    throw error;
  }
}

/** Thrown in this file only. */
class RenderError extends Error {}

/** The event, and inside `{{#each}}` the item and its index. */
type Frame = { scope: TriggerScope; item: unknown; index: number | null };

type ValueNode = Extract<TemplateNode, { kind: 'value' }>;
type BlockNode = Extract<TemplateNode, { body: unknown }>;

class Renderer {
  readonly chunks: string[] = [];
  readonly warnings = new Set<string>();
  readonly #isKey: boolean;
  readonly #key: KeyWriter;
  /** The number of blocks around the current node. */
  #depth = 0;
  /** Paths with a warning already: `{{#each}}` visits them again. */
  readonly #missing = new Set<TemplatePath>();
  /** Bytes written, of a key characters. */
  #size = 0;
  /** Values visited and characters read. */
  #work = 0;
  /** The end of the text so far. */
  #tail = '';

  constructor(mode: RenderMode, key: KeyWriter) {
    this.#isKey = mode === 'key';
    this.#key = key;
  }

  walk(nodes: readonly TemplateNode[], frame: Frame): void {
    for (const node of nodes) {
      this.#charge(1);
      if (node.kind === 'text') this.#write(this.#isKey ? this.#key.text(node) : node.text);
      else if (node.kind === 'value') this.#write(this.#value(node, frame));
      else if (node.kind === 'each') this.#each(node, frame);
      else this.#block(isTrue(valueAt(node.path, frame)) ? node.body : node.otherwise, frame);
    }
  }

  #block(nodes: readonly TemplateNode[], frame: Frame): void {
    this.#depth += 1;
    this.walk(nodes, frame);
    this.#depth -= 1;
  }

  #each({ path, body, otherwise }: BlockNode, frame: Frame): void {
    const items = valueAt(path, frame);
    if (items === undefined) this.#notFound(path, frame);
    else if (items !== null && !Array.isArray(items)) this.#warn(`${quoted(path.text)} is not a list, so {{#each}} has no items`);
    if (!Array.isArray(items) || items.length === 0) {
      this.#block(otherwise, frame);
      return;
    }
    const shown = items.slice(0, maxTemplateItems);
    for (const [index, item] of shown.entries()) {
      this.#charge(1);
      this.#block(body, { ...frame, item, index });
    }
    if (shown.length === items.length) return;
    const fault = `${quoted(path.text)} has ${items.length} items`;
    if (this.#isKey) throw new RenderError(`${fault}; a session key can use at most ${shown.length}`);
    this.#warn(`${fault}; only the first ${shown.length} are included`);
    this.#write(`(and ${counted(items.length - shown.length)} more)`);
  }

  #value(node: ValueNode, frame: Frame): string {
    const { path, json } = node;
    const value = valueAt(path, frame);
    if (value === undefined) {
      this.#notFound(path, frame);
      return '';
    }
    if (this.#isKey) return this.#key.value(node, this.#keyText(value, node), this.#depth > 0);
    if (isOurs(path)) return String(value);
    if (value === null) return json ? 'null' : '';
    // A list of single words could be a sentence, so inside `{{#each}}` every text is marked.
    if (typeof value === 'string' && !json) return this.#outside(path, value, frame.index !== null, markData);
    if (typeof value === 'string' || typeof value === 'object') return this.#outside(path, this.#json(value, path), true, markJson);
    return this.#scalar(value, path);
  }

  /** A text from outside: cut to its limit and marked, unless it is one harmless word. */
  #outside(path: TemplatePath, whole: string, isMarked: boolean, mark: (text: string) => string): string {
    this.#charge(whole.length);
    if (!isMarked && isHarmlessWord(whole, this.#tail)) return whole;
    const most = limits.maxTemplateValueCharacters;
    if (whole.length <= most) return mark(whole);
    // Without half of a surrogate pair at the end.
    const text = whole.slice(0, most).replace(/[\ud800-\udbff]$/, '');
    this.#warn(`${quoted(path.text)} has ${whole.length} characters; only the first ${text.length} are included`);
    return `${mark(text)} (cut: ${counted(text.length)} of ${counted(whole.length)} characters)`;
  }

  #keyText(value: unknown, { path, json }: ValueNode): string {
    if (value === null && !json) throw new RenderError(`${quoted(path.text)} is null, which cannot be part of a session key`);
    const isText = typeof value === 'string' && !json;
    const text = isText ? value : typeof value === 'object' || json ? this.#json(value, path) : this.#scalar(value, path);
    this.#charge(text.length);
    const hidden = unusable.exec(text);
    if (hidden === null) return text;
    throw new RenderError(`${quoted(path.text)} contains ${codePointName(hidden[0])}; a session key is one line of visible characters`);
  }

  #json(value: unknown, path: TemplatePath): string {
    if (!isDeeperThan(value, limits.maxJsonDepth)) return visibleJson(value);
    const fault = `${quoted(path.text)} is nested deeper than ${limits.maxJsonDepth} levels`;
    if (this.#isKey) throw new RenderError(fault);
    // Measuring the depth has visited the whole value.
    this.#charge(maxTemplateWork / 100);
    this.#warn(`${fault} and was left out`);
    return '"(left out: nested too deeply)"';
  }

  /** A number, `true`, `false` or null. */
  #scalar(value: unknown, path: TemplatePath): string {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      const fault = `${quoted(path.text)} is a number too large to be exact; send it as a string`;
      if (this.#isKey) throw new RenderError(fault);
      this.#warn(fault);
    }
    return JSON.stringify(value);
  }

  #notFound(path: TemplatePath, frame: Frame): void {
    const fault = `${quoted(path.text)} is not in this event`;
    if (this.#isKey) throw new RenderError(`${fault}, and the session key needs it`);
    if (this.#missing.has(path)) return;
    this.#missing.add(path);
    // In other template languages a name inside `{{#each}}` starts at the item.
    const isInItem = path.from === 'event' && frame.index !== null && valueAt({ ...path, from: 'this' }, frame) !== undefined;
    this.#warn(isInItem ? `${fault}, but in the item: write {{this.…}}` : fault);
  }

  #warn(warning: string): void {
    if (this.warnings.size < maxDeliveryWarnings) this.warnings.add(warning);
  }

  #charge(work: number): void {
    this.#work += work;
    if (this.#work > maxTemplateWork) throw new RenderError('it takes too long to render; use fewer {{#each}} inside each other');
  }

  #write(text: string): void {
    this.#size += this.#isKey ? text.length : utf8Length(text);
    const most = this.#isKey ? maxSessionKeyLength : maxTriggerInputBytes;
    if (this.#size > most) throw new RenderError(`it is longer than ${counted(most)} ${this.#isKey ? 'characters' : 'bytes'}`);
    this.chunks.push(text);
    this.#tail = (this.#tail + text.slice(-tailLength)).slice(-tailLength);
  }
}

/** More than the longest mark that a word could complete. */
const tailLength = 24;

/** Lone surrogates would all be stored as the same character. */
const unusable = new RegExp(`${hiddenCharacter}|[\\n\\t\\p{Cs}]`, 'u');

/** As in Handlebars: null, zero, and empty texts and lists are false. */
function isTrue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** Whether the value is made by us, not by the sender of the event. */
function isOurs({ from, steps }: TemplatePath): boolean {
  return from === 'own' && ['webhook', 'schedule', 'time', 'index'].some((name) => name === steps[0]);
}

/** undefined where the path finds nothing. Own properties only, so nothing of the language itself can be reached; of lists items and `length`. */
function valueAt({ from, steps }: TemplatePath, { scope, item, index }: Frame): unknown {
  if (from === 'own' && steps[0] === 'index') return steps.length === 1 ? (index ?? undefined) : undefined;
  let value: unknown = from === 'own' ? scope.own : from === 'this' ? item : scope.payload;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    if (Array.isArray(value) && typeof step === 'string' && step !== 'length') return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** 4,000 */
function counted(count: number): string {
  return count.toLocaleString('en-US');
}
