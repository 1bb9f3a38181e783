/** The views of the console: the groups of the sidebar, their shortcuts, and the script of each, which is loaded when it is opened. */
import { computed, type ReadonlySignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { heldServers } from '../../api/held-servers.ts';
import { pendingCount } from '../../api/inbox.ts';
import { hasScope, isRoot } from '../../api/me.ts';
import type { Scope } from '../../../core/people/principal.ts';
import type { ViewProps } from '../../router.ts';

export type ConsoleView = {
  name: string;
  title: string;
  key: string;
  /** A key needs one of these scopes. Absent: any key may open the view. */
  scopes?: readonly Scope[];
  /** Only the root key may open the view. */
  isRootOnly?: boolean;
  /** How many things in the view wait for a person. */
  badge?: ReadonlySignal<number>;
  load(): Promise<ComponentType<ViewProps>>;
};

/** By the group of the sidebar. */
export const groups: readonly (readonly [group: string, views: readonly ConsoleView[]])[] = Object.entries({
  Use: [
    { name: 'chat', title: 'Chat', key: 'c', scopes: ['chat'], load: async () => (await import('../chat/chat-page.tsx')).ChatPage },
    {
      name: 'connections',
      title: 'Connections',
      key: 'n',
      scopes: ['chat', 'tools'],
      load: async () => (await import('../connections/connections-page.tsx')).ConnectionsPage,
    },
  ],
  Build: [
    {
      name: 'toolsets',
      title: 'Toolsets',
      key: 't',
      scopes: ['tools', 'toolsets'],
      load: async () => (await import('../toolsets/toolsets-page.tsx')).ToolsetsPage,
    },
    {
      name: 'servers',
      title: 'Servers',
      key: 'v',
      scopes: ['admin'],
      badge: heldServers,
      load: async () => (await import('../servers/servers-page.tsx')).ServersPage,
    },
    {
      name: 'agents',
      title: 'Agents',
      key: 'e',
      scopes: ['toolsets'],
      load: async () => (await import('../agents/agents-page.tsx')).AgentsPage,
    },
    {
      name: 'made',
      title: 'Made tools',
      key: 'm',
      scopes: ['tools', 'toolsets'],
      load: async () => (await import('../made/made-page.tsx')).MadePage,
    },
    {
      name: 'skills',
      title: 'Skills',
      key: 'k',
      scopes: ['toolsets'],
      load: async () => (await import('../skills/skills-page.tsx')).SkillsPage,
    },
    {
      name: 'suites',
      title: 'Suites',
      key: 'f',
      scopes: ['toolsets'],
      load: async () => (await import('../suites/suites-page.tsx')).SuitesPage,
    },
    {
      name: 'import',
      title: 'Import',
      key: 'b',
      scopes: ['toolsets'],
      load: async () => (await import('../import/import-page.tsx')).ImportPage,
    },
  ],
  Automate: [
    {
      name: 'webhooks',
      title: 'Webhooks',
      key: 'w',
      scopes: ['admin'],
      load: async () => (await import('../webhooks/webhooks-page.tsx')).WebhooksPage,
    },
    {
      name: 'schedules',
      title: 'Schedules',
      key: 'h',
      scopes: ['admin'],
      load: async () => (await import('../schedules/schedules-page.tsx')).SchedulesPage,
    },
    {
      name: 'deliveries',
      title: 'Deliveries',
      key: 'd',
      scopes: ['admin'],
      load: async () => (await import('../deliveries/deliveries-page.tsx')).DeliveriesPage,
    },
  ],
  Run: [
    {
      name: 'sessions',
      title: 'Sessions',
      key: 's',
      scopes: ['chat'],
      load: async () => (await import('../sessions/sessions-page.tsx')).SessionsPage,
    },
    {
      name: 'replays',
      title: 'Replays',
      key: 'r',
      scopes: ['chat'],
      load: async () => (await import('../replays/replays-page.tsx')).ReplaysPage,
    },
    {
      name: 'approvals',
      title: 'Approvals',
      key: 'a',
      scopes: ['approve', 'chat'],
      badge: pendingCount,
      load: async () => (await import('../approvals/approvals-page.tsx')).ApprovalsPage,
    },
    { name: 'usage', title: 'Usage', key: 'u', load: async () => (await import('../usage/usage-page.tsx')).UsagePage },
    { name: 'limits', title: 'Limits', key: 'q', load: async () => (await import('../limits/limits-page.tsx')).LimitsPage },
    { name: 'audit', title: 'Audit', key: 'l', scopes: ['admin'], load: async () => (await import('../audit/audit-page.tsx')).AuditPage },
  ],
  Administer: [
    {
      name: 'models',
      title: 'Models',
      key: '1',
      scopes: ['chat'],
      load: async () => (await import('../models/models-page.tsx')).ModelsPage,
    },
    {
      name: 'providers',
      title: 'Providers',
      key: 'p',
      scopes: ['admin'],
      load: async () => (await import('../providers/providers-page.tsx')).ProvidersPage,
    },
    {
      name: 'secrets',
      title: 'Secrets',
      key: 'x',
      scopes: ['admin'],
      load: async () => (await import('../secrets/secrets-page.tsx')).SecretsPage,
    },
    { name: 'keys', title: 'Keys', key: 'y', scopes: ['admin'], load: async () => (await import('../keys/keys-page.tsx')).KeysPage },
    {
      name: 'members',
      title: 'Members',
      key: 'j',
      scopes: ['admin'],
      load: async () => (await import('../members/members-page.tsx')).MembersPage,
    },
    {
      name: 'policy',
      title: 'Policy',
      key: 'o',
      scopes: ['admin'],
      load: async () => (await import('../policy/policy-page.tsx')).PolicyPage,
    },
    {
      name: 'workspaces',
      title: 'Workspaces',
      key: 'z',
      isRootOnly: true,
      load: async () => (await import('../workspaces/workspaces-page.tsx')).WorkspacesPage,
    },
    { name: 'settings', title: 'Settings', key: 'i', load: async () => (await import('../settings/settings-page.tsx')).SettingsPage },
  ],
});

export const views = groups.flatMap(([, own]) => own);

/** The views that the key of the tab may open, as far as its scopes tell. */
export const permittedViews = computed(() => views.filter(({ scopes = [], isRootOnly }) => hasScope(scopes) && (!isRootOnly || isRoot())));
