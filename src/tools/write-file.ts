import { z } from 'zod';
import { defineTool, ToolFault } from './define-tool.ts';
import { sessionPath } from './session-path.ts';

export const writeFile = defineTool({
  name: 'write_file',
  description:
    'Writes a text file of this session, replacing what was there. Paths are relative to /workspace; missing directories are made.',
  input: z.object({
    path: z.string().min(1).describe('Path of the file, such as notes/todo.txt'),
    content: z.string().describe('The whole new content'),
  }),
  annotations: { title: 'Write a file', readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run({ path: input, content }, { files }) {
    if (input.endsWith('/')) throw new ToolFault(`${input} names a directory. Give the path of a file.`);
    const path = sessionPath(input);
    // A lone surrogate would silently become another character.
    if (!content.isWellFormed())
      throw new ToolFault('The content is not valid Unicode (a lone surrogate). Write it again without that character.');
    const created = files.stat(path) === null;
    const bytes = new TextEncoder().encode(content);
    files.write(path, bytes);
    return {
      isError: false,
      content: [{ type: 'text', text: `${created ? 'Created' : 'Replaced'} ${path} (${bytes.byteLength} bytes).` }],
      structuredContent: { path, bytes: bytes.byteLength, created },
    };
  },
});
