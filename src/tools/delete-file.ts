import { z } from 'zod';
import { defineTool, ToolFault } from './define-tool.ts';
import { fileNotFound, sessionPath } from './session-path.ts';

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
