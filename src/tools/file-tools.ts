/** The tools that read, write, list and delete files of the session. `edit-file.ts` changes parts of one. */
import { z } from 'zod';
import type { ToolResult } from '../core/tools/tool.ts';
import { defineTool, ToolFault } from './define-tool.ts';
import { toBase64, fromBase64 } from '../core/text/bytes.ts';
import { utf8Text } from '../core/text/utf8.ts';
import { fileNotFound, sessionPath } from './session-path.ts';
import { limits } from '../core/limits.ts';
import { walkFiles } from '../engine/walk-files.ts';

export const readFileTool = defineTool({
  name: 'read_file',
  description:
    'Reads a file of this session and returns its content. Paths are relative to /workspace. Text must be UTF-8; read other files with encoding "base64". Long files are truncated: read them in parts with offset and limit.',
  input: z.object({
    path: z.string().min(1).describe('Path of the file, such as notes/todo.txt'),
    encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('"base64" returns the bytes of any file'),
    offset: z.int().min(0).optional().describe('First line to read, starting at 1. With base64: first byte, starting at 0'),
    limit: z.int().min(1).optional().describe('Maximum number of lines; with base64, of bytes'),
  }),
  annotations: { title: 'Read a file', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run({ path: input, encoding, offset, limit }, { files }) {
    const path = sessionPath(input);
    const stat = files.stat(path);
    if (stat === null) throw fileNotFound(files, path);
    if (stat.kind === 'directory') throw new ToolFault(`${path} is a directory. Use list_directory to list it.`);
    const bytes = files.read(path);
    if (encoding === 'base64') return toBase64(bytes.subarray(offset ?? 0, (offset ?? 0) + (limit ?? bytes.byteLength)));
    const text = utf8Text(bytes);
    if (text === null) throw new ToolFault(`${path} is not UTF-8 text (${bytes.byteLength} bytes). Read it with encoding "base64".`);
    return offset === undefined && limit === undefined ? text : someLines(text, path, Math.max(1, offset ?? 1), limit);
  },
});

/** Returns part of a text. The note on how to continue is a separate block, so that the first block holds only text of the file. */
function someLines(text: string, path: string, first: number, limit: number | undefined): ToolResult {
  const start = startOfLine(text, 0, first - 1);
  if (start === null) throw new ToolFault(`${path} ends before line ${first}. Use a smaller offset.`);
  const end = limit === undefined ? null : startOfLine(text, start, limit);
  const shown = text.slice(start, end ?? text.length);
  if (end === null || end === text.length) return { isError: false, content: [{ type: 'text', text: shown }] };
  const note = `[More lines follow. Continue with offset ${first + (limit ?? 0)}]`;
  return {
    isError: false,
    content: [
      { type: 'text', text: shown },
      { type: 'text', text: note },
    ],
  };
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
    encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('"base64": content is the bytes of the file in base64'),
  }),
  annotations: { title: 'Write a file', readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run({ path: input, content, encoding }, { files }) {
    if (input.endsWith('/')) throw new ToolFault(`${input} is a directory path. Give the path of a file.`);
    const path = sessionPath(input);
    const bytes = toBytes(content, encoding);
    const created = files.stat(path) === null;
    files.write(path, bytes);
    return {
      isError: false,
      content: [{ type: 'text', text: `${created ? 'Created' : 'Replaced'} ${path} (${bytes.byteLength} bytes).` }],
      structuredContent: { path, bytes: bytes.byteLength, created },
    };
  },
});

function toBytes(content: string, encoding: 'utf-8' | 'base64'): Uint8Array {
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

export const listDirectory = defineTool({
  name: 'list_directory',
  description: `Lists a directory of this session. Directories end with "/"; files show their size in bytes. Returns at most ${limits.maxListedFiles} entries.`,
  input: z.object({
    path: z.string().default('.').describe('Path of the directory; relative to /workspace'),
    recursive: z.boolean().default(false).describe('Also list subdirectories'),
  }),
  annotations: { title: 'List a directory', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run({ path: input, recursive }, { files }) {
    const path = sessionPath(input);
    const stat = files.stat(path);
    if (stat === null) throw fileNotFound(files, path);
    if (stat.kind === 'file') throw new ToolFault(`${path} is a file (${stat.size} bytes). read_file shows its content.`);
    const { entries, truncated } = walkFiles(files, path, { recursive, most: limits.maxListedFiles });
    const lines = entries.map((entry) => (entry.kind === 'directory' ? `${entry.name}/` : `${entry.name}\t${entry.size}`));
    if (truncated) lines.push(`[Only the first ${limits.maxListedFiles} entries are shown. List a subdirectory, or use find in bash.]`);
    return {
      isError: false,
      content: [{ type: 'text', text: lines.length === 0 ? `${path} is empty.` : lines.join('\n') }],
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
    const path = sessionPath(input);
    const stat = files.stat(path);
    if (stat === null) throw fileNotFound(files, path);
    if (stat.kind === 'directory' && files.list(path).length > 0)
      throw new ToolFault(`${path} is a directory that is not empty. Delete its contents first.`);
    files.remove(path);
    return `Deleted ${path}.`;
  },
});
