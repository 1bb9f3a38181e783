import { z } from 'zod';
import { defineTool, ToolFault } from './define-tool.ts';
import { fromBase64 } from '../core/text/bytes.ts';
import { sessionPath } from './session-path.ts';

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
