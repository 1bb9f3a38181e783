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
  /** Its one value is the page. */
  load(): Promise<Readonly<Record<string, ComponentType<ViewProps>>>>;
};

/** By the group of the sidebar. */
export const groups: readonly (readonly [group: string, views: readonly ConsoleView[]])[] = Object.entries({
  Use: [
    { name: 'chat', title: 'Chat', key: 'c', scopes: ['chat'], load: () => import('../chat/chat-page.tsx') },
    {
      name: 'connections',
      title: 'Connections',
      key: 'n',
      scopes: ['chat', 'tools'],
      load: () => import('../connections/connections-page.tsx'),
    },
  ],
  Build: [
    { name: 'toolsets', title: 'Toolsets', key: 't', scopes: ['tools', 'toolsets'], load: () => import('../toolsets/toolsets-page.tsx') },
    {
      name: 'servers',
      title: 'Servers',
      key: 'v',
      scopes: ['admin'],
      badge: heldServers,
      load: () => import('../servers/servers-page.tsx'),
    },
    { name: 'agents', title: 'Agents', key: 'e', scopes: ['toolsets'], load: () => import('../agents/agents-page.tsx') },
    { name: 'made', title: 'Made tools', key: 'm', scopes: ['tools', 'toolsets'], load: () => import('../made/made-page.tsx') },
    { name: 'skills', title: 'Skills', key: 'k', scopes: ['toolsets'], load: () => import('../skills/skills-page.tsx') },
    { name: 'suites', title: 'Suites', key: 'f', scopes: ['toolsets'], load: () => import('../suites/suites-page.tsx') },
    { name: 'import', title: 'Import', key: 'b', scopes: ['toolsets'], load: () => import('../import/import-page.tsx') },
  ],
  Automate: [
    { name: 'webhooks', title: 'Webhooks', key: 'w', scopes: ['admin'], load: () => import('../webhooks/webhooks-page.tsx') },
    { name: 'schedules', title: 'Schedules', key: 'h', scopes: ['admin'], load: () => import('../schedules/schedules-page.tsx') },
    { name: 'deliveries', title: 'Deliveries', key: 'd', scopes: ['admin'], load: () => import('../deliveries/deliveries-page.tsx') },
  ],
  Run: [
    { name: 'sessions', title: 'Sessions', key: 's', scopes: ['chat'], load: () => import('../sessions/sessions-page.tsx') },
    { name: 'replays', title: 'Replays', key: 'r', scopes: ['chat'], load: () => import('../replays/replays-page.tsx') },
    {
      name: 'approvals',
      title: 'Approvals',
      key: 'a',
      scopes: ['approve', 'chat'],
      badge: pendingCount,
      load: () => import('../approvals/approvals-page.tsx'),
    },
    { name: 'usage', title: 'Usage', key: 'u', load: () => import('../usage/usage-page.tsx') },
    { name: 'limits', title: 'Limits', key: 'q', load: () => import('../limits/limits-page.tsx') },
    { name: 'audit', title: 'Audit', key: 'l', scopes: ['admin'], load: () => import('../audit/audit-page.tsx') },
  ],
  Administer: [
    { name: 'models', title: 'Models', key: '1', scopes: ['chat'], load: () => import('../models/models-page.tsx') },
    { name: 'aliases', title: 'Model aliases', key: '2', scopes: ['admin'], load: () => import('../aliases/aliases-page.tsx') },
    { name: 'providers', title: 'Providers', key: 'p', scopes: ['admin'], load: () => import('../providers/providers-page.tsx') },
    { name: 'secrets', title: 'Secrets', key: 'x', scopes: ['admin'], load: () => import('../secrets/secrets-page.tsx') },
    { name: 'keys', title: 'Keys', key: 'y', scopes: ['admin'], load: () => import('../keys/keys-page.tsx') },
    { name: 'members', title: 'Members', key: 'j', scopes: ['admin'], load: () => import('../members/members-page.tsx') },
    { name: 'policy', title: 'Policy', key: 'o', scopes: ['admin'], load: () => import('../policy/policy-page.tsx') },
    { name: 'workspaces', title: 'Workspaces', key: 'z', isRootOnly: true, load: () => import('../workspaces/workspaces-page.tsx') },
    { name: 'settings', title: 'Settings', key: 'i', load: () => import('../settings/settings-page.tsx') },
  ],
});

export const views = groups.flatMap(([, own]) => own);

/** The views that the key of the tab may open, as far as its scopes tell. */
export const permittedViews = computed(() => views.filter(({ scopes = [], isRootOnly }) => hasScope(scopes) && (!isRootOnly || isRoot())));
