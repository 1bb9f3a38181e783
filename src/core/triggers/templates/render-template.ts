/**
 * A template and an event, made into text. The work is linear in both and bounded: by places visited, characters read and bytes written,
 * whatever a template repeats. What the text is for (`mode`) decides how values stand in it:
 *
 * - `input`: what an agent is told. What came from outside is cleaned and marked (`marked-data.ts`); a path that names nothing leaves
 *   nothing and a warning.
 * - `key`: of a session. Different values never make the same key (`session-key.ts`); a value that cannot be shown is a fault.
 */
import { isDeeperThan } from '../../json-depth.ts';
import { limits } from '../../limits.ts';
import { quoted } from '../../problem.ts';
import { seenJson } from '../../seen-json.ts';
import { utf8Length } from '../../utf8.ts';
import { codePointName, hiddenCharacter } from '../../visible-text.ts';
import { isHarmlessWord, markData, markJson } from './marked-data.ts';
import { createKeyWriter, type KeyWriter } from './session-key.ts';
import { valueAt, type Frame } from './template-lookup.ts';
import type { Template, TemplateNode, TemplatePath, TriggerScope } from './template.ts';

export type RenderMode = 'input' | 'key';

export type RenderedTemplate = { text: string; warnings: string[] } | { fault: string; warnings: string[] };

export function renderTemplate(template: Template, scope: TriggerScope, mode: RenderMode): RenderedTemplate {
  const renderer = new Renderer(mode, createKeyWriter(template));
  try {
    renderer.walk(template.nodes, { scope, item: scope.payload, index: null });
    return { text: renderer.text(), warnings: renderer.warnings() };
  } catch (error) {
    if (error instanceof RenderFault) return { fault: error.message, warnings: renderer.warnings() };
    throw error;
  }
}

/** Thrown within this file only. */
class RenderFault extends Error {}

class Renderer {
  readonly #mode: RenderMode;
  readonly #key: KeyWriter;
  /** Number of blocks around the current node. */
  #depth = 0;
  readonly #chunks: string[] = [];
  readonly #warnings = new Set<string>();
  /** Said already: an `{{#each}}` comes by again and again. */
  readonly #missing = new Set<TemplatePath>();
  /** Bytes written. */
  #size = 0;
  /** Places visited and characters read. */
  #work = 0;
  /** The end of what is written. */
  #tail = '';

  constructor(mode: RenderMode, key: KeyWriter) {
    this.#mode = mode;
    this.#key = key;
  }

  text(): string {
    return this.#chunks.join('');
  }

  warnings(): string[] {
    return [...this.#warnings];
  }

  walk(nodes: readonly TemplateNode[], frame: Frame): void {
    for (const node of nodes) {
      this.#charge(1);
      switch (node.kind) {
        case 'text':
          this.#write(this.#mode === 'key' ? this.#key.text(node) : node.text);
          break;
        case 'value':
          this.#value(node, frame);
          break;
        case 'if':
          this.#walkBlock(isTrue(valueAt(node.path, frame)) ? node.body : node.otherwise, frame);
          break;
        case 'each':
          this.#each(node, frame);
          break;
        default:
          node satisfies never;
      }
    }
  }

  #walkBlock(nodes: readonly TemplateNode[], frame: Frame): void {
    this.#depth += 1;
    this.walk(nodes, frame);
    this.#depth -= 1;
  }

  #each({ path, body, otherwise }: Extract<TemplateNode, { kind: 'each' }>, frame: Frame): void {
    const items = valueAt(path, frame);
    if (items === undefined) this.#namesNothing(path, frame);
    else if (items !== null && !Array.isArray(items)) this.#warn(`${pathName(path)} is no list: {{#each}} has nothing to go through`);
    if (!Array.isArray(items) || items.length === 0) {
      this.#walkBlock(otherwise, frame);
      return;
    }
    const most = Math.min(items.length, limits.maxTemplateItems);
    for (let index = 0; index < most; index += 1) {
      this.#charge(1);
      const item: unknown = items[index];
      this.#walkBlock(body, { ...frame, item, index });
    }
    const more = items.length - most;
    if (more === 0) return;
    if (this.#mode === 'key')
      throw new RenderFault(`${pathName(path)} has ${items.length} items: a session's key goes through ${most} at most`);
    this.#warn(`${pathName(path)} has ${items.length} items: the first ${most} are told`);
    this.#write(`(and ${counted(more)} more)`);
  }

  #value(node: Extract<TemplateNode, { kind: 'value' }>, frame: Frame): void {
    const value = valueAt(node.path, frame);
    if (value === undefined) this.#namesNothing(node.path, frame);
    else if (this.#mode === 'key') this.#keyPart(node, value);
    else if (isOurs(node.path)) this.#write(String(value));
    // It is there, and says nothing.
    else if (value === null) this.#write(node.json ? 'null' : '');
    else if (typeof value === 'string' && !node.json) this.#told(node.path, value, frame.index !== null, markData);
    else if (typeof value === 'object' || typeof value === 'string') this.#told(node.path, this.#json(value, node.path), true, markJson);
    else this.#write(this.#number(value, node.path));
  }

  /** Words that the event brings stand unmarked one at a time only: many of them, as an `{{#each}}` makes them, are a sentence. */
  #told(path: TemplatePath, whole: string, isMarked: boolean, mark: (text: string) => string): void {
    this.#charge(whole.length);
    if (!isMarked && isHarmlessWord(whole, this.#tail)) {
      this.#write(whole);
      return;
    }
    const told = cut(whole, limits.maxTemplateValueCharacters);
    this.#write(mark(told));
    if (told.length === whole.length) return;
    this.#warn(`${pathName(path)} has ${whole.length} characters: the first ${told.length} are told`);
    this.#write(` (cut: ${counted(told.length)} of ${counted(whole.length)} characters)`);
  }

  #keyPart(node: Extract<TemplateNode, { kind: 'value' }>, value: unknown): void {
    const { path, json } = node;
    if (value === null && !json) throw new RenderFault(`${pathName(path)} is null, and the key of a session cannot be made of it`);
    const text =
      typeof value === 'string' && !json ? value : typeof value === 'object' || json ? this.#json(value, path) : this.#number(value, path);
    this.#charge(text.length);
    const hidden = unseen.exec(text);
    if (hidden !== null)
      throw new RenderFault(`${pathName(path)} holds ${codePointName(hidden[0])}, and a session’s key is one line of what can be seen`);
    this.#write(this.#key.value(node, text, this.#depth > 0));
  }

  #json(value: unknown, path: TemplatePath): string {
    if (!isDeeperThan(value, limits.maxJsonDepth)) return seenJson(value);
    if (this.#mode === 'key') throw new RenderFault(`${pathName(path)} nests deeper than ${limits.maxJsonDepth} levels`);
    // Where it stands deep is found by going through it.
    this.#charge(limits.maxTemplateWork / 100);
    this.#warn(`${pathName(path)} nests deeper than ${limits.maxJsonDepth} levels and was left out`);
    return '"(left out: it nests too deep)"';
  }

  /** Also `true` and `false`. */
  #number(value: unknown, path: TemplatePath): string {
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      const fault = `${pathName(path)} is a number too large to be read exactly: have it sent as text`;
      if (this.#mode === 'key') throw new RenderFault(fault);
      this.#warn(fault);
    }
    return JSON.stringify(value) ?? '';
  }

  #namesNothing(path: TemplatePath, frame: Frame): void {
    if (this.#mode === 'key')
      throw new RenderFault(`${pathName(path)} names nothing in this event, and the key of its session is made of it`);
    if (this.#missing.has(path)) return;
    this.#missing.add(path);
    this.#warn(
      `${pathName(path)} names nothing in this event${isOfItem(path, frame) ? ', but in the item, of which it is {{this.…}}' : ''}`,
    );
  }

  #warn(warning: string): void {
    if (this.#warnings.size < limits.maxDeliveryWarnings) this.#warnings.add(warning);
  }

  #charge(work: number): void {
    this.#work += work;
    if (this.#work > limits.maxTemplateWork) throw new RenderFault('it takes too long to render: use fewer {{#each}} within each other');
  }

  #write(text: string): void {
    if (text === '') return;
    this.#size += this.#mode === 'key' ? text.length : utf8Length(text);
    const most = this.#mode === 'key' ? limits.maxSessionKeyLength : limits.maxTriggerInputBytes;
    if (this.#size > most) throw new RenderFault(`it is longer than ${counted(most)} ${this.#mode === 'key' ? 'characters' : 'bytes'}`);
    this.#chunks.push(text);
    this.#tail = text.length < tailLength ? (this.#tail + text).slice(-tailLength) : text.slice(-tailLength);
  }
}

/** Longer than the marks that a word could become a part of. */
const tailLength = 24;

/** In a key, halves of characters would all be stored as one. */
const unseen = new RegExp(`${hiddenCharacter}|[\\n\\t\\p{Cs}]`, 'u');

/** As Handlebars has it: nothing, zero, and what is empty is not. */
function isTrue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** Made by us, not by whoever sent the event. */
function isOurs({ from, steps }: TemplatePath): boolean {
  return from === 'own' && ['webhook', 'schedule', 'time', 'index'].some((name) => name === steps[0]);
}

/** As other languages of templates have it: there a name within `{{#each}}` begins at the item. */
function isOfItem(path: TemplatePath, frame: Frame): boolean {
  return path.from === 'event' && frame.index !== null && valueAt({ ...path, from: 'this' }, frame) !== undefined;
}

function pathName({ text }: TemplatePath): string {
  return quoted(text);
}

/** No half of a character at its end. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const code = text.charCodeAt(length - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? length - 1 : length);
}

/** 4,000 */
function counted(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
