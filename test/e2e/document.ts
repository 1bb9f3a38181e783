/**
 * Reads a Markdown document as the commands, programs and outputs that it shows. `docs.e2e.test.ts` runs them.
 *
 * - A fenced `sh` or `js` block is run, in order, in one shell and working directory for each document.
 * - A `json` or `text` block that follows it, with only blank lines between, is its output. `…` in a string stands for any text, the string
 *   `"…"` for any value, and members that the block leaves out may have any value.
 * - `<!-- not run: reason -->` on the line before a block excludes it; `<!-- fails -->` says that its last command is refused.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anchorOf } from '../../src/local/build/build-guide.ts';
import { root } from './service.ts';

export type Block = {
  language: 'sh' | 'js';
  code: string;
  /** Of its first line of code, from 1. */
  line: number;
  output: { language: 'json' | 'text'; text: string; line: number } | null;
  notRun: string | null;
  fails: boolean;
};

/** `path` is relative to the project. */
export type Document = { path: string; text: string; blocks: Block[] };

type Fence = { language: string; code: string; line: number; endLine: number };

export function readDocument(path: string): Document {
  const text = readFileSync(join(root, path), 'utf8');
  const lines = text.split('\n');
  const fences = readFences(lines);
  const blocks: Block[] = [];
  for (const [index, { language, code, line, endLine }] of fences.entries()) {
    if (language !== 'sh' && language !== 'js') continue;
    const mark = /^\s*<!-- (.*) -->$/.exec(lines[line - 3] ?? '')?.[1] ?? '';
    const next = fences[index + 1];
    const isOutput =
      next !== undefined &&
      lines.slice(endLine, next.line - 2).every((between) => between.trim() === '') &&
      /^(json|text)$/.test(next.language);
    blocks.push({
      language,
      code,
      line,
      output: isOutput ? { language: next.language as 'json' | 'text', text: next.code, line: next.line } : null,
      notRun: /^not run: (.+)$/.exec(mark)?.[1] ?? null,
      fails: mark === 'fails',
    });
  }
  return { path, text, blocks };
}

function readFences(lines: readonly string[]): Fence[] {
  const fences: Fence[] = [];
  let open: { language: string; indent: string; from: number } | null = null;
  for (const [index, line] of lines.entries()) {
    const mark = /^(\s*)```(\w*)/.exec(line);
    if (mark === null) continue;
    if (open === null) {
      open = { language: mark[2] ?? '', indent: mark[1] ?? '', from: index + 1 };
      continue;
    }
    const { language, indent, from } = open;
    const code = lines.slice(from, index).map((one) => (one.startsWith(indent) ? one.slice(indent.length) : one));
    fences.push({ language, code: code.join('\n'), line: from + 1, endLine: index + 1 });
    open = null;
  }
  return fences;
}

/** Returns what differs from the shown value, or null. */
export function differenceFrom(shown: unknown, actual: unknown, path = ''): string | null {
  if (shown === '…') return null;
  if (typeof shown === 'string' && typeof actual === 'string')
    return isLike(shown, actual) ? null : `${path}: ${JSON.stringify(actual)} is not ${JSON.stringify(shown)}`;
  if (Array.isArray(shown)) {
    if (!Array.isArray(actual)) return `${path}: no array`;
    const isOpen = shown.at(-1) === '…';
    const items = isOpen ? shown.slice(0, -1) : shown;
    if (isOpen ? actual.length < items.length : actual.length !== items.length) return `${path}: ${actual.length} items`;
    return firstOf(items.map((item, index) => differenceFrom(item, actual[index], `${path}[${index}]`)));
  }
  if (shown !== null && typeof shown === 'object') {
    if (actual === null || typeof actual !== 'object') return `${path}: no object`;
    const members = actual as Record<string, unknown>;
    return firstOf(Object.entries(shown).map(([name, value]) => differenceFrom(value, members[name], `${path}.${name}`)));
  }
  return Object.is(shown, actual) ? null : `${path}: ${JSON.stringify(actual)} is not ${JSON.stringify(shown)}`;
}

/** `…` in `shown` stands for any text, over lines too. */
export function isLike(shown: string, actual: string): boolean {
  const pattern = shown
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[\\s\\S]*');
  return new RegExp(`^${pattern}$`).test(actual);
}

function firstOf(differences: (string | null)[]): string | null {
  return differences.find((difference) => difference !== null) ?? null;
}

/** The links of a document and its headings, as GitHub makes anchors of them. */
export function readLinks({ text }: Pick<Document, 'text'>): string[] {
  const prose = withoutFences(text).replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
}

export function readAnchors({ text }: Pick<Document, 'text'>): Set<string> {
  const prose = withoutFences(text);
  const anchors = new Set<string>();
  for (const [, heading = ''] of prose.matchAll(/^#{1,6} (.+)$/gm)) anchors.add(anchorOf(heading));
  for (const [, id = ''] of prose.matchAll(/<a id="([^"]+)">/g)) anchors.add(id);
  return anchors;
}

function withoutFences(text: string): string {
  return text.replaceAll(/^\s*```[\s\S]*?^\s*```/gm, '');
}
