/** The tools that read, write, edit, list and delete files of the session. Paths are resolved against `/workspace`. */
import * as z from 'zod';
import { textResult, type ToolResult } from '../core/tools/tool.ts';
import { defineTool, ToolFault } from './define-tool.ts';
import { nearNames } from '../core/names/suggest.ts';
import { baseName, parentPath, resolvePath, workspace } from '../core/text/path.ts';
import { applyEdits, editsDiff, type TextEdit } from '../core/text/text-edits.ts';
import type { FileStat, FileSystem } from '../ports/file-system.ts';
import { toBase64, fromBase64, toLatin1, fromLatin1 } from '../core/text/bytes.ts';
import { utf8Text } from '../core/text/utf8.ts';
import { limits } from '../core/limits/limits.ts';
import { walkFiles } from '../engine/walk-files.ts';

/** `utf8` is what Node calls UTF-8. */
const Encoding = z.enum(['utf-8', 'utf8', 'latin1', 'base64']).default('utf-8');

export const readFileTool = defineTool({
  name: 'read_file',
  description:
    'Reads a file of this session and returns its content. Paths are relative to /workspace. Text must be UTF-8; read other files with encoding "latin1" or "base64". Long files are truncated: read them in parts with offset and limit.',
  input: z.object({
    path: z.string().min(1).describe('Path of the file, such as notes/todo.txt'),
    encoding: Encoding.describe('"base64" returns the bytes of any file'),
    offset: z.int().min(0).optional().describe('First line to read, starting at 1. With base64: first byte, starting at 0'),
    limit: z.int().min(1).optional().describe('Maximum number of lines; with base64, of bytes'),
  }),
  annotations: { title: 'Read a file', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run({ path: input, encoding, offset, limit }, { files }) {
    const { path, stat } = requireFile(files, input);
    if (stat.kind === 'directory') throw new ToolFault(`${path} is a directory. Use list_directory to list it.`);
    const bytes = files.read(path);
    if (encoding === 'base64') return toBase64(bytes.subarray(offset ?? 0, (offset ?? 0) + (limit ?? bytes.byteLength)));
    const text = encoding === 'latin1' ? fromLatin1(bytes) : utf8Text(bytes);
    if (text === null)
      throw new ToolFault(`${path} is not UTF-8 text (${bytes.byteLength} bytes). Read it with encoding "latin1" or "base64".`);
    return offset === undefined && limit === undefined ? text : someLines(text, path, Math.max(1, offset ?? 1), limit);
  },
});

/** Returns part of a text. The note on how to continue is a separate block, so that the first block holds only text of the file. */
function someLines(text: string, path: string, first: number, limit: number | undefined): ToolResult {
  const start = startOfLine(text, 0, first - 1);
  if (start === null) throw new ToolFault(`${path} ends before line ${first}. Use a smaller offset.`);
  const end = limit === undefined ? null : startOfLine(text, start, limit);
  const shown = text.slice(start, end ?? text.length);
  if (end === null || end === text.length) return textResult(shown);
  const note = textResult(`[More lines follow. Continue with offset ${first + (limit ?? 0)}]`);
  return { ...note, content: [...textResult(shown).content, ...note.content] };
}

/** Returns the index of the line `lines` lines after the one that starts at `from`, or null if the text has fewer lines. */
function startOfLine(text: string, from: number, lines: number): number | null {
  let at = from;
  for (let line = 0; line < lines; line += 1) {
    const next = text.indexOf('\n', at);
    if (next < 0) return null;
    at = next + 1;
  }
  return at;
}

export const writeFileTool = defineTool({
  name: 'write_file',
  description:
    'Writes a file of this session, replacing any existing file. Paths are relative to /workspace. Missing directories are created. To change parts of a file, use edit_file.',
  input: z.object({
    path: z.string().min(1).describe('Path of the file, such as notes/todo.txt'),
    content: z.string().describe('Complete new content'),
    encoding: Encoding.describe('"base64": content is the bytes of the file in base64'),
  }),
  annotations: { title: 'Write a file', readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run({ path: input, content, encoding }, { files }) {
    if (input.endsWith('/')) throw new ToolFault(`${input} is a directory path. Give the path of a file.`);
    const path = sessionPath(input);
    const bytes = toBytes(content, encoding);
    const created = files.stat(path) === null;
    files.write(path, bytes);
    const text = `${created ? 'Created' : 'Replaced'} ${path} (${bytes.byteLength} bytes).`;
    return { ...textResult(text), structuredContent: { path, bytes: bytes.byteLength, created } };
  },
});

function toBytes(content: string, encoding: z.infer<typeof Encoding>): Uint8Array {
  if (encoding === 'latin1') {
    const other = /[\u0100-\u{10ffff}]/u.exec(content)?.[0];
    if (other !== undefined)
      throw new ToolFault(`The content has ${JSON.stringify(other)}, which latin1 lacks. Nothing was written. Use utf-8.`);
    return toLatin1(content);
  }
  if (encoding === 'base64') {
    const bytes = fromBase64(content);
    if (bytes === null) throw new ToolFault('The content is not valid base64. Nothing was written.');
    return bytes;
  }
  // Encoding would silently replace a lone surrogate.
  if (!content.isWellFormed())
    throw new ToolFault('The content is not valid Unicode (a lone surrogate). Write it again without that character.');
  return new TextEncoder().encode(content);
}

/** Edits of one call of edit_file; each is a pass over the file. */
const maxFileEdits = 100;

/**
 * Replaces text in a file. Matches are exact, and either all edits apply or none. The schema is that of the MCP file system server's
 * `edit_file` (modelcontextprotocol/servers: src/filesystem), with the `replace_all` of coding agents.
 */
export const editFileTool = defineTool({
  name: 'edit_file',
  description:
    'Edits a text file of this session. Each edit replaces oldText with newText. oldText must match the file exactly, including whitespace and line endings, and occur once. Edits apply in order; if one fails, none is applied. Returns a diff. Paths are relative to /workspace. To create a file, use write_file.',
  input: z.object({
    path: z.string().min(1).describe('Path of the file, such as src/main.ts'),
    edits: z
      .array(
        z.object({
          oldText: z.string().min(1).describe('Text to replace, with enough surrounding text to be unique in the file'),
          newText: z.string().describe('Replacement text. Empty: deletes oldText'),
          replaceAll: z.boolean().default(false).describe('Replace every occurrence of oldText'),
        }),
      )
      .min(1)
      .max(maxFileEdits),
  }),
  annotations: { title: 'Edit a file', readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  run({ path: input, edits }, { files }) {
    const { path, stat } = requireFile(files, input);
    if (stat.kind === 'directory') throw new ToolFault(`${path} is a directory. Give the path of a file.`);
    const before = decode(files.read(path), path);
    const fitted = edits.map((edit) => withLineEnds(edit, before));
    const applied = applyEdits(before, fitted, limits.maxFileBytes);
    if (!applied.ok) throw new ToolFault(`Nothing was changed in ${path}. ${applied.reason}`);
    if (!applied.text.isWellFormed())
      throw new ToolFault('The new text is not valid Unicode (a lone surrogate). Write it again without that character.');
    if (applied.text === before) return textResult(`${path} is unchanged: the edits have no effect.`);
    files.write(path, new TextEncoder().encode(applied.text));
    const diff = editsDiff(before, applied.text, path);
    const text = `Edited ${path}: ${applied.replaced} place${applied.replaced === 1 ? '' : 's'}.\n${diff}`;
    return { ...textResult(text), structuredContent: { path, replaced: applied.replaced, diff } };
  },
});

/** Models see the lines of a CRLF file without the CR, so the text that they send is converted to CRLF. */
function withLineEnds(
  { oldText, newText, replaceAll }: { oldText: string; newText: string; replaceAll: boolean },
  before: string,
): TextEdit {
  const edit = { oldText, newText, all: replaceAll };
  if (oldText.includes('\r') || !before.includes('\r\n') || /[^\r]\n|^\n/.test(before)) return edit;
  return { ...edit, oldText: oldText.replaceAll('\n', '\r\n'), newText: newText.replaceAll(/\r?\n/g, '\r\n') };
}

function decode(bytes: Uint8Array, path: string): string {
  // A NUL is valid UTF-8, but does not occur in text files.
  const refusal = `${path} is not a text file (${bytes.byteLength} bytes), so it cannot be edited. Use bash or write_file with encoding "base64".`;
  const text = bytes.includes(0) ? null : utf8Text(bytes);
  if (text === null) throw new ToolFault(refusal);
  return text;
}

export const listDirectory = defineTool({
  name: 'list_directory',
  description: `Lists a directory of this session. Directories end with "/"; files show their size in bytes. Returns at most ${limits.maxListedFiles} entries.`,
  input: z.object({
    path: z.string().default('.').describe('Path of the directory; relative to /workspace'),
    recursive: z.boolean().default(false).describe('Also list subdirectories'),
  }),
  annotations: { title: 'List a directory', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run({ path: input, recursive }, { files }) {
    const { path, stat } = requireFile(files, input);
    if (stat.kind === 'file') throw new ToolFault(`${path} is a file (${stat.size} bytes). read_file shows its content.`);
    const { entries, truncated } = walkFiles(files, path, { recursive, most: limits.maxListedFiles });
    const lines = entries.map((entry) => (entry.kind === 'directory' ? `${entry.name}/` : `${entry.name}\t${entry.size}`));
    if (truncated) lines.push(`[Only the first ${limits.maxListedFiles} entries are shown. List a subdirectory, or use find in bash.]`);
    return {
      ...textResult(lines.length === 0 ? `${path} is empty.` : lines.join('\n')),
      structuredContent: { path, entries: entries.map(({ name, kind, size }) => ({ name, kind, size })), truncated },
    };
  },
});

export const deleteFileTool = defineTool({
  name: 'delete_file',
  description: 'Deletes a file or an empty directory of this session. This cannot be undone. Paths are relative to /workspace.',
  input: z.object({ path: z.string().min(1).describe('Path of the file, such as notes/todo.txt') }),
  annotations: { title: 'Delete a file', readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run({ path: input }, { files }) {
    const { path, stat } = requireFile(files, input);
    if (stat.kind === 'directory' && files.list(path).length > 0)
      throw new ToolFault(`${path} is a directory that is not empty. Delete its contents first.`);
    files.remove(path);
    return `Deleted ${path}.`;
  },
});

// Paths in arguments.

function sessionPath(input: string): string {
  const resolved = resolvePath(input, workspace);
  if (!resolved.ok) throw new ToolFault(`${resolved.reason} Use another path.`);
  return resolved.path;
}

/** Throws for a missing path. */
export function requireFile(files: FileSystem, input: string): { path: string; stat: FileStat } {
  const path = sessionPath(input);
  const stat = files.stat(path);
  if (stat === null) throw fileNotFound(files, path);
  return { path, stat };
}

/** Returns the error for a missing path, with the nearest existing directory and similar names in it. */
function fileNotFound(files: FileSystem, path: string): ToolFault {
  const parent = parentPath(path);
  const directory = files.stat(parent);
  if (directory === null)
    return new ToolFault(`${path} does not exist, nor does the directory ${parent}. Use list_directory to see existing files.`);
  if (directory.kind === 'file') return new ToolFault(`${path} does not exist: ${parent} is a file.`);
  const names = files.list(parent).map((entry) => entry.name);
  const near = nearNames(
    baseName(path),
    names.map((name) => [name, name] as const),
  );
  const shown =
    near.length > 0
      ? `Did you mean ${near.join(', ')}?`
      : names.length === 0
        ? `${parent} is empty.`
        : `${parent} contains: ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}.`;
  return new ToolFault(`${path} does not exist. ${shown}`);
}
