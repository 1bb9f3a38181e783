/** `/console/settings/{part?}`: what this key may do, aliases of models, and the appearance. */
import type { ComponentChildren } from 'preact';
import type { ViewProps } from '../../router.ts';
import { isRoot } from '../../api/me.ts';
import { late } from '../../parts/late.tsx';
import { ViewTabs } from '../../parts/view-tabs.tsx';
import { ThisKey } from './this-key.tsx';
import { Appearance } from './appearance.tsx';

const MasterKeyTab = late(async () => (await import('./master-key.tsx')).MasterKeyTab);
const ModelAliases = late(async () => (await import('./model-aliases.tsx')).ModelAliases);

const parts: readonly { id: string | null; title: string; isRootOnly?: boolean; content(): ComponentChildren }[] = [
  { id: null, title: 'This key', content: () => <ThisKey /> },
  { id: 'models', title: 'Model aliases', content: () => <ModelAliases /> },
  { id: 'master-key', title: 'Master key', isRootOnly: true, content: () => <MasterKeyTab /> },
  { id: 'appearance', title: 'Appearance', content: () => <Appearance /> },
];

export function SettingsPage({ id }: ViewProps) {
  const part = parts.find((one) => one.id === id) ?? parts[0];
  return (
    <div class="view wide">
      <div class="head">
        <h1>Settings</h1>
        <ViewTabs
          label="Settings"
          view="settings"
          current={part?.id ?? null}
          tabs={parts.filter(({ isRootOnly = false }) => !isRootOnly || isRoot())}
        />
      </div>
      {part?.content()}
    </div>
  );
}
