/** The editor of a skill: SKILL.md and its resource files. */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { openDocument } from '../../api/document.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentHeader } from '../../parts/document-header.tsx';
import { FieldIssues, TextField } from '../../parts/fields.tsx';
import { visible } from '../../parts/visible.ts';
import { Warnings } from '../../parts/warnings.tsx';
import { fileSize, fileText, type SkillDraft, toSkillFile } from './skill-files.ts';

type Warning = components['schemas']['Warning'];

function openSkill(name: string) {
  const path = { skill: name };
  /** Of the newest save. */
  const warnings = signal<readonly Warning[]>([]);
  const put = async (body: components['schemas']['Skill'], params: object, headers = {}) => {
    const sent = await moniker.value.PUT('/v1/skills/{skill}', { params: { path, ...params }, body, headers });
    if (sent.data !== undefined) warnings.value = sent.data.warnings;
    return sent;
  };
  const document = openDocument<SkillDraft>(`skills ${name}`, {
    blank: {
      content: `---\nname: ${name}\ndescription: What it does, and when to use it.\n---\n# Steps\n\n1. Read the files that the user names.\n`,
      resources: {},
    },
    read: async () => {
      const { data, ...rest } = await moniker.value.GET('/v1/skills/{skill}', { params: { path } });
      return data === undefined ? rest : { ...rest, data: { content: data.content, resources: data.resources ?? {} } };
    },
    write: (draft, header) => put(draft, { header }),
    remove: (header) => moniker.value.DELETE('/v1/skills/{skill}', { params: { path, header } }),
  });
  /** Replaces the stored skill by the content of a zip archive. */
  const upload = async (archive: Blob): Promise<void> => {
    // The client sends bytes unchanged; the typed body is that of JSON.
    const sent = await put(archive as unknown as SkillDraft, {}, { 'content-type': 'application/zip' });
    if (sent.response.ok) return await document.discard();
    document.problem.value = new MonikerError(sent.error, {
      status: sent.response.status,
      requestId: sent.response.headers.get('x-request-id'),
    });
  };
  return { document, warnings, upload };
}

export function SkillEditor({ name }: { name: string }) {
  const { document, warnings, upload } = useMemo(() => openSkill(name), [name]);
  useEffect(() => void document.load(), [document, moniker.value]);
  const { draft, problem } = document;
  const issues = problem.value instanceof MonikerError ? problem.value.issues : [];
  const skill = draft.value;
  return (
    <div class="editor page">
      <DocumentHeader document={document} view="skills" title="Skills" name={name} />
      <Warnings warnings={warnings.value} />
      {skill !== null && (
        <FieldIssues.Provider value={issues}>
          <div class="fields">
            <TextField
              label="SKILL.md"
              path="content"
              rows={18}
              isCode
              hint="Frontmatter with name and description, then the instructions. allowed-tools and requires name the tools that it needs."
              value={skill.content}
              onInput={(content) => document.edit({ ...skill, content })}
            />
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
        </FieldIssues.Provider>
      )}
    </div>
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
              onClick={() => {
                shown.value = shown.value === path ? null : path;
              }}
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
      <form
        class="actions"
        onSubmit={(event) => {
          event.preventDefault();
          const path = String(new FormData(event.currentTarget).get('path') ?? '').trim();
          if (path === '' || Object.hasOwn(resources, path)) return;
          onChange({ ...resources, [path]: '' });
          shown.value = path;
          event.currentTarget.reset();
        }}
      >
        <label for="new-file">New file</label>
        <input id="new-file" name="path" required autocomplete="off" spellcheck={false} placeholder="scripts/changes.sh" />
        <button type="submit">Add</button>
        <UploadButton label="Upload files" isMultiple onFiles={add} />
      </form>
    </section>
  );
}

type UploadProps = { label: string; accept?: string; isMultiple?: boolean; onFiles(files: readonly File[]): Promise<void> };

function UploadButton({ label, accept, isMultiple = false, onFiles }: UploadProps) {
  return (
    <label class="button">
      {label}
      <input
        type="file"
        class="visually-hidden"
        accept={accept}
        multiple={isMultiple}
        onChange={({ currentTarget }) => {
          void onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
    </label>
  );
}
