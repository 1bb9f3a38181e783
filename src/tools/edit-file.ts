/**
 * Patches a text file: each edit names the text that is there and what stands in its place. Exact match only; all edits or none. Its schema is
 * that of the MCP file system server's `edit_file` (modelcontextprotocol/servers: src/filesystem), with the `replace_all` of coding agents.
 */
import { z } from 'zod';
import { limits } from '../core/limits.ts';
import { applyEdits, editsDiff, type TextEdit } from '../core/text-edits.ts';
import { defineTool, ToolFault } from './define-tool.ts';
import { utf8Text } from '../core/utf8.ts';
import { notFound, sessionPath } from './session-path.ts';

export const editFile = defineTool({
  name: 'edit_file',
  description:
    'Changes parts of a text file of this session: each edit replaces oldText, which must stand in the file exactly so (blanks and line ends included) and once, by newText. Edits apply in order, all or none. Answers a diff. Paths are relative to /workspace. Use write_file for a new file.',
  input: z.object({
    path: z.string().min(1).describe('Path of the file, such as src/main.ts'),
    edits: z
      .array(
        z.object({
          oldText: z.string().min(1).describe('Text to replace, with enough around it to be the only such place'),
          newText: z.string().describe('Text in its place; empty deletes it'),
          replaceAll: z.boolean().default(false).describe('Replace every place where oldText stands'),
        }),
      )
      .min(1)
      .max(limits.maxFileEdits),
  }),
  annotations: { title: 'Edit a file', readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  run({ path: input, edits }, { files }) {
    const path = sessionPath(input);
    const stat = files.stat(path);
    if (stat === null) throw notFound(files, path);
    if (stat.kind === 'directory') throw new ToolFault(`${path} is a directory. Give the path of a file.`);
    const before = decode(files.read(path), path);
    const fitted = edits.map((edit) => withLineEnds(edit, before));
    const applied = applyEdits(before, fitted, limits.maxFileBytes);
    if (!applied.ok) throw new ToolFault(`Nothing was changed in ${path}. ${applied.reason}`);
    if (!applied.text.isWellFormed())
      throw new ToolFault('The new text is not valid Unicode (a lone surrogate). Write it again without that character.');
    if (applied.text === before)
      return { isError: false, content: [{ type: 'text', text: `${path} stays as it is: the edits change nothing.` }] };
    files.write(path, new TextEncoder().encode(applied.text));
    const diff = editsDiff(before, applied.text, path);
    return {
      isError: false,
      content: [{ type: 'text', text: `Edited ${path}: ${applied.replaced} place${applied.replaced === 1 ? '' : 's'}.\n${diff}` }],
      structuredContent: { path, replaced: applied.replaced, diff },
    };
  },
});

/** A file with CRLF shows its lines to a model without; what it sends back is meant for the same lines. */
function withLineEnds(
  { oldText, newText, replaceAll }: { oldText: string; newText: string; replaceAll: boolean },
  before: string,
): TextEdit {
  const edit = { oldText, newText, all: replaceAll };
  if (oldText.includes('\r') || !before.includes('\r\n') || /[^\r]\n|^\n/.test(before)) return edit;
  return { ...edit, oldText: oldText.replaceAll('\n', '\r\n'), newText: newText.replaceAll(/\r?\n/g, '\r\n') };
}

function decode(bytes: Uint8Array, path: string): string {
  // A NUL is valid UTF-8, and no text that anybody edits.
  const refusal = `${path} is not a text file (${bytes.byteLength} bytes), so it cannot be edited. Use bash or write_file with encoding "base64".`;
  const text = bytes.includes(0) ? null : utf8Text(bytes);
  if (text === null) throw new ToolFault(refusal);
  return text;
}
