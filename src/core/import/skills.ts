/** Skill folders in an archive: each folder with a `SKILL.md`. `core/skills/skill-file.ts` checks the text when the skill is written. */
import { toBase64 } from '../text/bytes.ts';
import { skillFile, isStray, SkillName, toPlainText } from '../skills/skill.ts';
import type { ImportDraft } from './draft.ts';

/** A file of an archive; `path` is relative, without `..`. */
export type ArchiveFile = { path: string; bytes: Uint8Array };

/** Adds the skills and returns the files that belong to none. */
export function readSkillFolders(draft: ImportDraft, files: readonly ArchiveFile[]): ArchiveFile[] {
  const folders = files
    .filter(({ path }) => path === skillFile || path.endsWith(`/${skillFile}`))
    .map(({ path }) => path.slice(0, -skillFile.length))
    .sort((one, other) => other.length - one.length);
  const byFolder = new Map<string, ArchiveFile[]>(folders.map((folder) => [folder, []]));
  const rest: ArchiveFile[] = [];
  for (const file of files) {
    const folder = folders.find((one) => file.path.startsWith(one));
    if (folder === undefined) rest.push(file);
    else byFolder.get(folder)?.push(file);
  }
  for (const [folder, own] of byFolder) addSkill(draft, folder, own);
  return rest;
}

function addSkill(draft: ImportDraft, folder: string, files: readonly ArchiveFile[]): void {
  const file = files.find(({ path }) => path === folder + skillFile);
  const content = file === undefined ? null : toPlainText(file.bytes);
  const written = folder.split('/').at(-2) ?? '';
  if (content === null) {
    draft.skip(folder + skillFile, 'is not UTF-8 text');
    return;
  }
  // The frontmatter must have the name that the skill gets, so a name is taken from there and never changed.
  const name = /^name:[ \t]*["']?([^"'\r\n]*?)["']?[ \t]*$/m.exec(content.slice(0, 4_000))?.[1] ?? written;
  if (!SkillName.safeParse(name).success) {
    draft.skip(folder + skillFile, `has the name ${JSON.stringify(name.slice(0, 100))}: a skill needs 1 to 64 of a-z, 0-9 and "-"`);
    return;
  }
  if (draft.has('skills', name)) {
    draft.skip(folder + skillFile, `is the second skill called ${name}`);
    return;
  }
  const resources = files.filter((one) => one !== file && !isStray(one.path.slice(folder.length)));
  draft.add('skills', name, {
    content,
    resources: Object.fromEntries(resources.map(({ path, bytes }) => [path.slice(folder.length), contentOf(bytes)])),
  });
}

export function contentOf(bytes: Uint8Array): string | { base64: string } {
  return toPlainText(bytes) ?? { base64: toBase64(bytes) };
}
