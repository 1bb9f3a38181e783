import { z } from 'zod';
import type { ToolResult } from '../core/tool.ts';
import { defineTool, ToolFault } from './define-tool.ts';
import { toBase64 } from '../core/base64.ts';
import { utf8Text } from '../core/utf8.ts';
import { notFound, sessionPath } from './session-path.ts';

export const readFile = defineTool({
  name: 'read_file',
  description:
    'Reads a file of this session and answers its content. Paths are relative to /workspace. Text must be UTF-8; read other files with encoding "base64". Long files are cut: read parts of them with offset and limit.',
  input: z.object({
    path: z.string().min(1).describe('Path of the file, such as notes/todo.txt'),
    encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('"base64" answers the bytes of any file'),
    offset: z.int().min(0).optional().describe('First line to read, from 1; with base64 the first byte, from 0'),
    limit: z.int().min(1).optional().describe('At most so many lines; with base64 bytes'),
  }),
  annotations: { title: 'Read a file', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run({ path: input, encoding, offset, limit }, { files }) {
    const path = sessionPath(input);
    const stat = files.stat(path);
    if (stat === null) throw notFound(files, path);
    if (stat.kind === 'directory') throw new ToolFault(`${path} is a directory. list_directory shows what is in it.`);
    const bytes = files.read(path);
    if (encoding === 'base64') return toBase64(bytes.subarray(offset ?? 0, (offset ?? 0) + (limit ?? bytes.byteLength)));
    const text = utf8Text(bytes);
    if (text === null) throw new ToolFault(`${path} is not UTF-8 text (${bytes.byteLength} bytes). Read it with encoding "base64".`);
    return offset === undefined && limit === undefined ? text : someLines(text, path, Math.max(1, offset ?? 1), limit);
  },
});

/** With a note where it goes on: in a block of its own, so that the first is the file's text and nothing else. */
function someLines(text: string, path: string, first: number, limit: number | undefined): ToolResult {
  const start = startOfLine(text, 0, first - 1);
  if (start === null) throw new ToolFault(`${path} ends before line ${first}. Begin at a smaller one.`);
  const end = limit === undefined ? null : startOfLine(text, start, limit);
  const shown = text.slice(start, end ?? text.length);
  if (end === null || end === text.length) return { isError: false, content: [{ type: 'text', text: shown }] };
  const note = `[More lines follow. To read on: offset ${first + (limit ?? 0)}]`;
  return {
    isError: false,
    content: [
      { type: 'text', text: shown },
      { type: 'text', text: note },
    ],
  };
}

/** Where the text begins that is `lines` lines after `from`, which begins one; null: it has not as many. */
function startOfLine(text: string, from: number, lines: number): number | null {
  let at = from;
  for (let line = 0; line < lines; line += 1) {
    const next = text.indexOf('\n', at);
    if (next < 0) return null;
    at = next + 1;
  }
  return at;
}
