import { z } from 'zod';
import type { ToolResult } from '../core/tools/tool.ts';
import { defineTool, ToolFault } from './define-tool.ts';
import { toBase64 } from '../core/text/bytes.ts';
import { utf8Text } from '../core/text/utf8.ts';
import { fileNotFound, sessionPath } from './session-path.ts';

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
