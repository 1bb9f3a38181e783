/**
 * The text of an OpenAPI document as data: JSON, or YAML 1.2 with its JSON types. Only the notations are known here; what must be in it
 * is `core/openapi/document.ts`.
 */
import { Composer, isAlias, isNode, Parser, visit, type Document } from 'yaml';
import { fault } from '../../core/openapi/document.ts';
import { limits } from '../../core/limits.ts';
import type { Problem } from '../../core/problem.ts';
import { tryParse } from '../../core/wire-value.ts';

/** Throws `upstream_error` for what is neither. */
export function parseOpenApiText(text: string): unknown {
  // A byte order mark is no part of JSON (RFC 8259 §8.1).
  const bare = text.replace(/^\ufeff/, '').trim();
  if (bare === '') throw fault('is empty');
  if (bare.startsWith('<')) throw fault('is a page of HTML or XML, not JSON or YAML. Give the address of the document itself');
  const value = bare.startsWith('{') || bare.startsWith('[') ? tryParse(bare) : undefined;
  return value === undefined ? parseYaml(bare) : value;
}

function parseYaml(text: string): unknown {
  if (text.length > limits.maxOpenApiYamlBytes) {
    throw fault(`has ${text.length} characters of YAML; at most ${limits.maxOpenApiYamlBytes} are read. Convert it to JSON`);
  }
  try {
    const document = composeYaml(text);
    const [error] = document.errors;
    if (error !== undefined) throw unreadable(text, error.message, error.pos[0]);
    if (countNames(document) > limits.maxOpenApiYamlNames) throw tooManyAliases();
    // Aliases share what they stand for; how much it is written out is counted by who walks it (`limits.maxOpenApiParts`).
    return document.toJS({ maxAliasCount });
  } catch (error) {
    if (error instanceof ReferenceError) throw tooManyAliases();
    if (error instanceof RangeError) throw fault('is nested too deeply');
    throw error;
  }
}

/** The first document, as far as it is one: what is mostly faults is not read to its end. */
function composeYaml(text: string): Document {
  // The library's own look for doubled keys compares each with each; and it makes every error pretty, each by a look at all of the text
  // before it: 200 kB of commas took a minute.
  const how = { version: '1.2', schema: 'core', stringKeys: true, uniqueKeys: false, logLevel: 'silent', prettyErrors: false } as const;
  const composer = new Composer(how);
  // It gathers all of them, each with its stack: a megabyte of commas takes ten seconds. The first one is all that is told.
  Object.assign(composer, { onError: faultAt(text) });
  const documents: Document[] = [];
  let tokens = 0;
  for (const token of new Parser().parse(text)) {
    documents.push(...composer.next(token));
    tokens += 1;
    if (documents.length > 1) throw fault('is neither JSON nor YAML: it is more than one document');
    if (tokens > maxTokens) throw fault('is neither JSON nor YAML: nearly nothing in it can be read');
  }
  documents.push(...composer.end(true, text.length));
  const [document, another] = documents;
  if (document === undefined || another !== undefined) throw fault('is neither JSON nor YAML: it is not one document');
  return document;
}

/** Beside the document itself: comments before and behind it, and one for every place where it cannot be read. */
const maxTokens = 10_000;

/** As the library calls it: where it is, as a token, a range or an offset. Warnings are none. What it throws is told to it again. */
function faultAt(text: string) {
  let first: Problem | null = null;
  return (source: number | readonly number[] | { offset: number }, _code: string, message: string, isWarning = false): void => {
    if (isWarning) return;
    first ??= unreadable(text, message, typeof source === 'number' ? source : 'offset' in source ? source.offset : (source[0] ?? 0));
    throw first;
  };
}

function unreadable(text: string, message: string, at: number): Problem {
  // The library tells of its own stack as of an error of the text.
  if (/call stack|stack overflow/i.test(message)) return fault('is nested too deeply');
  const before = text.slice(0, at).split('\n');
  const place = `at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  return fault(`is neither JSON nor YAML: ${message.replace(/[.:]$/, '')} ${place}`);
}

/** Anchors and aliases: the library looks through all of them for each alias. */
function countNames(document: Document): number {
  let count = 0;
  visit(document, (_, node) => {
    if (isAlias(node) || (isNode(node) && node.anchor !== undefined)) count += 1;
  });
  return count;
}

function tooManyAliases(): Problem {
  return fault('uses more aliases (*name) of YAML than are read. Write them out, or use $ref');
}

/** How much aliases of aliases may multiply: the library's own default. */
const maxAliasCount = 100;
