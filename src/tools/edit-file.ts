/**
 * `edit_file`: replaces text in a file. Matches are exact, and either all edits apply or none. The schema is that of the MCP file system
 * server's `edit_file` (modelcontextprotocol/servers: src/filesystem), with the `replace_all` of coding agents.
 */
import { z } from 'zod';
import { limits } from '../core/limits.ts';
import { applyEdits, editsDiff, type TextEdit } from '../core/text/text-edits.ts';
import { defineTool, ToolFault } from './define-tool.ts';
import { utf8Text } from '../core/text/utf8.ts';
import { fileNotFound, sessionPath } from './session-path.ts';

/** Edits of one call of edit_file; each is a pass over the file. */
const maxFileEdits = 100;

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
    const path = sessionPath(input);
    const stat = files.stat(path);
    if (stat === null) throw fileNotFound(files, path);
    if (stat.kind === 'directory') throw new ToolFault(`${path} is a directory. Give the path of a file.`);
    const before = decode(files.read(path), path);
    const fitted = edits.map((edit) => withLineEnds(edit, before));
    const applied = applyEdits(before, fitted, limits.maxFileBytes);
    if (!applied.ok) throw new ToolFault(`Nothing was changed in ${path}. ${applied.reason}`);
    if (!applied.text.isWellFormed())
      throw new ToolFault('The new text is not valid Unicode (a lone surrogate). Write it again without that character.');
    if (applied.text === before)
      return { isError: false, content: [{ type: 'text', text: `${path} is unchanged: the edits have no effect.` }] };
    files.write(path, new TextEncoder().encode(applied.text));
    const diff = editsDiff(before, applied.text, path);
    return {
      isError: false,
      content: [{ type: 'text', text: `Edited ${path}: ${applied.replaced} place${applied.replaced === 1 ? '' : 's'}.\n${diff}` }],
      structuredContent: { path, replaced: applied.replaced, diff },
    };
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
