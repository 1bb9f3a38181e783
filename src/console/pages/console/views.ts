/** The views of the console: the groups of the sidebar, their shortcuts, and the script of each, which is loaded when it is opened. */
import { computed, type ReadonlySignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { heldServers } from '../../api/held-servers.ts';
import { pendingCount } from '../../api/inbox.ts';
import { hasScope, isRoot } from '../../api/me.ts';
import type { Scope } from '../../../core/principal.ts';
import type { ViewProps } from '../../router.ts';

export type ConsoleView = {
  name: string;
  title: string;
  group: 'Use' | 'Build' | 'Automate' | 'Run' | 'Administer';
  key: string;
  /** A key needs one of these scopes. Absent: any key may open the view. */
  scopes?: readonly Scope[];
  /** Only the root key may open the view. */
  isRootOnly?: boolean;
  /** How many things in the view wait for a person. */
  badge?: ReadonlySignal<number>;
  load(): Promise<ComponentType<ViewProps>>;
};

export const views: readonly ConsoleView[] = [
  {
    name: 'chat',
    title: 'Chat',
    group: 'Use',
    key: 'c',
    scopes: ['chat'],
    load: async () => (await import('../chat/chat-page.tsx')).ChatPage,
  },
  {
    name: 'connections',
    title: 'Connections',
    group: 'Use',
    key: 'n',
    scopes: ['chat', 'tools'],
    load: async () => (await import('../connections/connections-page.tsx')).ConnectionsPage,
  },
  {
    name: 'toolsets',
    title: 'Toolsets',
    group: 'Build',
    key: 't',
    scopes: ['tools', 'toolsets'],
    load: async () => (await import('../toolsets/toolsets-page.tsx')).ToolsetsPage,
  },
  {
    name: 'servers',
    title: 'Servers',
    group: 'Build',
    key: 'v',
    scopes: ['admin'],
    badge: heldServers,
    load: async () => (await import('../servers/servers-page.tsx')).ServersPage,
  },
  {
    name: 'agents',
    title: 'Agents',
    group: 'Build',
    key: 'e',
    scopes: ['toolsets'],
    load: async () => (await import('../agents/agents-page.tsx')).AgentsPage,
  },
  {
    name: 'made',
    title: 'Made tools',
    group: 'Build',
    key: 'm',
    scopes: ['tools', 'toolsets'],
    load: async () => (await import('../made/made-page.tsx')).MadePage,
  },
  {
    name: 'skills',
    title: 'Skills',
    group: 'Build',
    key: 'k',
    scopes: ['toolsets'],
    load: async () => (await import('../skills/skills-page.tsx')).SkillsPage,
  },
  {
    name: 'import',
    title: 'Import',
    group: 'Build',
    key: 'b',
    scopes: ['toolsets'],
    load: async () => (await import('../import/import-page.tsx')).ImportPage,
  },
  {
    name: 'webhooks',
    title: 'Webhooks',
    group: 'Automate',
    key: 'w',
    scopes: ['admin'],
    load: async () => (await import('../webhooks/webhooks-page.tsx')).WebhooksPage,
  },
  {
    name: 'schedules',
    title: 'Schedules',
    group: 'Automate',
    key: 'h',
    scopes: ['admin'],
    load: async () => (await import('../schedules/schedules-page.tsx')).SchedulesPage,
  },
  {
    name: 'deliveries',
    title: 'Deliveries',
    group: 'Automate',
    key: 'd',
    scopes: ['admin'],
    load: async () => (await import('../deliveries/deliveries-page.tsx')).DeliveriesPage,
  },
  {
    name: 'sessions',
    title: 'Sessions',
    group: 'Run',
    key: 's',
    scopes: ['chat'],
    load: async () => (await import('../sessions/sessions-page.tsx')).SessionsPage,
  },
  {
    name: 'approvals',
    title: 'Approvals',
    group: 'Run',
    key: 'a',
    scopes: ['approve', 'chat'],
    badge: pendingCount,
    load: async () => (await import('../approvals/approvals-page.tsx')).ApprovalsPage,
  },
  { name: 'usage', title: 'Usage', group: 'Run', key: 'u', load: async () => (await import('../usage/usage-page.tsx')).UsagePage },
  { name: 'limits', title: 'Limits', group: 'Run', key: 'q', load: async () => (await import('../limits/limits-page.tsx')).LimitsPage },
  {
    name: 'audit',
    title: 'Audit',
    group: 'Run',
    key: 'l',
    scopes: ['admin'],
    load: async () => (await import('../audit/audit-page.tsx')).AuditPage,
  },
  {
    name: 'providers',
    title: 'Providers',
    group: 'Administer',
    key: 'p',
    scopes: ['admin'],
    load: async () => (await import('../providers/providers-page.tsx')).ProvidersPage,
  },
  {
    name: 'secrets',
    title: 'Secrets',
    group: 'Administer',
    key: 'x',
    scopes: ['admin'],
    load: async () => (await import('../secrets/secrets-page.tsx')).SecretsPage,
  },
  {
    name: 'keys',
    title: 'Keys',
    group: 'Administer',
    key: 'y',
    scopes: ['admin'],
    load: async () => (await import('../keys/keys-page.tsx')).KeysPage,
  },
  {
    name: 'members',
    title: 'Members',
    group: 'Administer',
    key: 'j',
    scopes: ['admin'],
    load: async () => (await import('../members/members-page.tsx')).MembersPage,
  },
  {
    name: 'policy',
    title: 'Policy',
    group: 'Administer',
    key: 'o',
    scopes: ['admin'],
    load: async () => (await import('../policy/policy-page.tsx')).PolicyPage,
  },
  {
    name: 'workspaces',
    title: 'Workspaces',
    group: 'Administer',
    key: 'z',
    isRootOnly: true,
    load: async () => (await import('../workspaces/workspaces-page.tsx')).WorkspacesPage,
  },
  {
    name: 'settings',
    title: 'Settings',
    group: 'Administer',
    key: 'i',
    load: async () => (await import('../settings/settings-page.tsx')).SettingsPage,
  },
];

export const groups: readonly ConsoleView['group'][] = ['Use', 'Build', 'Automate', 'Run', 'Administer'];

/** The views that the key of the tab may open, as far as its scopes tell. */
export const permittedViews = computed(() => views.filter(({ scopes = [], isRootOnly }) => hasScope(scopes) && (!isRootOnly || isRoot())));
