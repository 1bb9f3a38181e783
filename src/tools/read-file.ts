import { z } from 'zod';
import { defineTool, ToolFault } from './define-tool.ts';
import { notFound, sessionPath } from './session-path.ts';

export const readFile = defineTool({
  name: 'read_file',
  description:
    'Reads a file of this session and answers its content. Paths are relative to /workspace. Text must be UTF-8; read other files with encoding "base64". Long files are cut: read parts of them with bash (sed -n, head, tail).',
  input: z.object({
    path: z.string().min(1).describe('Path of the file, such as notes/todo.txt'),
    encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('"base64" answers the bytes of any file'),
  }),
  annotations: { title: 'Read a file', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run({ path: input, encoding }, { files }) {
    const path = sessionPath(input);
    const stat = files.stat(path);
    if (stat === null) throw notFound(files, path);
    if (stat.kind === 'directory') throw new ToolFault(`${path} is a directory. list_directory shows what is in it.`);
    const bytes = files.read(path);
    return encoding === 'base64' ? toBase64(bytes) : decode(bytes, path);
  },
});

function decode(bytes: Uint8Array, path: string): string {
  try {
    // ignoreBOM keeps the mark: what is read can be written back unchanged.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolFault(`${path} is not UTF-8 text (${bytes.byteLength} bytes). Read it with encoding "base64".`);
  }
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  // In pieces: one call with all bytes as arguments would overflow the stack.
  for (let offset = 0; offset < bytes.byteLength; offset += 0x2000)
    binary += String.fromCharCode(...bytes.subarray(offset, offset + 0x2000));
  return btoa(binary);
}
