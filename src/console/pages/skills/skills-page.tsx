/** `/console/skills/{name?}`: the list of skills, or the editor of one. */
import { PlainForm } from '../../parts/fields/controls.tsx';
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { openDocument } from '../../api/document.ts';
import { documentAt } from '../../api/document-requests.ts';
import { moniker } from '../../api/moniker.ts';
import { UploadButton } from '../../parts/actions/upload-button.tsx';
import { DocumentEditor, documentPage } from '../../parts/documents/document-view.tsx';
import { TextField } from '../../parts/fields/fields.tsx';
import { memberFields } from '../../parts/fields/member-fields.tsx';
import { visible } from '../../parts/text/visible.ts';
import { fileSize, fileText, type SkillDraft, toSkillFile } from './skill-files.ts';

export const SkillsPage = documentPage({
  Editor: SkillEditor,
  view: 'skills',
  title: 'Skills',
  about: 'A skill is a folder with instructions for a kind of task. Agents load its text when they need it.',
  noun: 'skill',
  empty: 'No skills yet. Create one: name it, then write its SKILL.md or upload a zip archive.',
  example: 'release-notes',
  read: (query) => moniker.value.get('/v1/skills', { params: { query } }),
  row: ({ name, description, resources, version, requires = [] }) => ({
    ...{ name, description },
    facts: [
      ...(requires.length > 0 ? [`needs ${requires.join(', ')}`] : []),
      ...(resources.length > 0 ? [`${resources.length} files`] : []),
      `version ${version}`,
    ].join(', '),
  }),
});

function openSkill(name: string) {
  const path = { skill: name };
  const document = openDocument(`skills ${name}`, {
    ...documentAt('/v1/skills/{skill}', path),
    blank: {
      content: `---\nname: ${name}\ndescription: What it does, and when to use it.\n---\n# Steps\n\n1. Read the files that the user names.\n`,
      resources: {},
    } as SkillDraft,
    toDraft: ({ content, resources = {} }) => ({ content, resources }),
  });
  /** Replaces the stored skill by the content of a zip archive. */
  const upload = (archive: Blob) => {
    // The client sends bytes unchanged; the typed body is that of JSON.
    const body = archive as unknown as SkillDraft;
    const headers = { 'content-type': 'application/zip' };
    return document.store(moniker.value.PUT('/v1/skills/{skill}', { params: { path }, body, headers }));
  };
  return { document, upload };
}

/** The editor of a skill: SKILL.md and its resource files. */
function SkillEditor({ name }: { name: string }) {
  const { document, upload } = useMemo(() => openSkill(name), [name]);
  return (
    <DocumentEditor
      {...{ document, name, view: 'skills', title: 'Skills' }}
      above={(skill) => (
        // Not made again when an archive replaces the draft: the opened file stays open.
        <div class="fields">
          {memberFields(skill, document.edit).required('content', 'SKILL.md', {
            rows: 18,
            isCode: true,
            hint: 'Frontmatter with name and description, then the instructions. allowed-tools and requires name the tools that it needs.',
          })}
          <ResourceFiles skill={skill} onChange={(resources) => document.edit({ ...skill, resources })} />
          <p>
            <UploadButton
              label="Replace by a zip archive"
              accept=".zip,application/zip"
              onFiles={async ([archive]) => {
                if (archive !== undefined) await upload(archive);
              }}
            />
          </p>
        </div>
      )}
    />
  );
}

type FilesProps = { skill: SkillDraft; onChange(resources: SkillDraft['resources']): void };

function ResourceFiles({ skill: { resources }, onChange }: FilesProps) {
  const shown = useSignal<string | null>(null);
  const text = shown.value === null || !Object.hasOwn(resources, shown.value) ? null : fileText(resources[shown.value] ?? '');
  const add = async (files: readonly File[]): Promise<void> => {
    const added = await Promise.all(files.map(async (file) => [file.name, toSkillFile(new Uint8Array(await file.arrayBuffer()))] as const));
    onChange({ ...resources, ...Object.fromEntries(added) });
  };
  return (
    <section aria-label="Files">
      <h2>Files</h2>
      {Object.keys(resources).length === 0 && (
        <p class="muted">No files yet. Add scripts, templates or references that the text refers to.</p>
      )}
      <ul class="rows">
        {Object.entries(resources).map(([path, file]) => (
          <li key={path}>
            <button
              type="button"
              class="plain"
              aria-pressed={shown.value === path}
              disabled={fileText(file) === null}
              onClick={() => (shown.value = shown.value === path ? null : path)}
            >
              <code>{visible(path)}</code>
            </button>
            <span class="muted">{fileSize(file)} bytes</span>
            <button
              type="button"
              class="plain"
              aria-label={`Remove ${path}`}
              onClick={() => onChange(Object.fromEntries(Object.entries(resources).filter(([other]) => other !== path)))}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      {shown.value !== null && text !== null && (
        <TextField
          key={shown.value}
          label={shown.value}
          path={`resources.${shown.value}`}
          rows={12}
          isCode
          value={text}
          onInput={(value) => onChange({ ...resources, [shown.value ?? '']: value })}
        />
      )}
      <PlainForm
        class="actions"
        send={(form) => {
          const path = String(new FormData(form).get('path') ?? '').trim();
          if (path === '' || Object.hasOwn(resources, path)) return;
          onChange({ ...resources, [path]: '' });
          shown.value = path;
          form.reset();
        }}
      >
        <label for="new-file">New file</label>
        <input id="new-file" name="path" required autocomplete="off" spellcheck={false} placeholder="scripts/changes.sh" />
        <button type="submit">Add</button>
        <UploadButton label="Upload files" isMultiple onFiles={add} />
      </PlainForm>
    </section>
  );
}
