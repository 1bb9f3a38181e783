import { z } from 'zod';
import { limits } from '../core/limits.ts';
import { walkFiles } from '../engine/walk-files.ts';
import { defineTool, ToolFault } from './define-tool.ts';
import { fileNotFound, sessionPath } from './session-path.ts';

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
