/** Where a project file has the documents of each kind. */
import type { Project } from './project.ts';

type Section = Exclude<keyof Project, '$schema'>;

/** By kind of document. `policy` and `workspace` are single documents. */
export const projectSections = {
  secret: 'secrets',
  provider: 'providers',
  'model-alias': 'modelAliases',
  server: 'servers',
  'ui-tool': 'tools',
  'made-tool': 'tools',
  'tool-aliases': 'toolAliases',
  toolset: 'toolsets',
  skill: 'skills',
  agent: 'agents',
  suite: 'suites',
  policy: 'policy',
  webhook: 'webhooks',
  schedule: 'schedules',
  subscription: 'subscriptions',
  member: 'members',
  workspace: 'workspace',
} as const satisfies Readonly<Record<string, Section>>;

/** `servers.github`; `policy`. */
export function documentPath(kind: keyof typeof projectSections, name: string): string {
  return kind === 'policy' || kind === 'workspace' ? projectSections[kind] : `${projectSections[kind]}.${name}`;
}
