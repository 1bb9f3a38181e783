/** Beside the table of a toolset: definitions for each provider, versions, a test call, and the document. */
import { asWritten, boundChoice, Select } from '../../parts/fields/controls.tsx';
import { useSignal } from '@preact/signals';
import type { ProviderKind } from '../../../core/names/provider-kind.ts';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { DocumentText } from '../../parts/documents/document-text.tsx';
import { late } from '../../parts/layout/late.tsx';
import { TabPanel } from '../../parts/layout/tab-panel.tsx';
import { PathMessages } from '../../parts/text/path-messages.tsx';
import { visible } from '../../parts/text/visible.ts';
import { asToolsetDraft } from './toolset-draft.ts';
import type { OpenToolset } from './toolset-state.ts';

const tabs = ['Definition', 'Entry', 'Prompts', 'Versions', 'Test', 'Document'] as const;
/** Whose definitions are shown. */
const recipients: Record<Exclude<ProviderKind, 'openai-compatible' | 'azure-openai' | 'vertex'> | 'text', true> = {
  openai: true,
  'openai-responses': true,
  anthropic: true,
  gemini: true,
  cohere: true,
  bedrock: true,
  ollama: true,
  text: true,
};

const EntryPanel = late(async () => (await import('./toolset-entry.tsx')).EntryPanel);
const OffersPanel = late(async () => (await import('./toolset-offers.tsx')).OffersPanel);
const VersionsPanel = late(async () => (await import('./toolset-versions.tsx')).VersionsPanel);
const TestPanel = late(async () => (await import('./toolset-test.tsx')).TestPanel);

type PanelProps = { state: OpenToolset; selected: number };

export function ToolsetPanels({ state, selected }: PanelProps) {
  const tab = useSignal<(typeof tabs)[number]>('Definition');
  return (
    <TabPanel label="About the toolset" tabs={tabs} tab={tab}>
      {tab.value === 'Definition' && <DefinitionPanel state={state} selected={selected} />}
      {tab.value === 'Entry' && <EntryPanel state={state} selected={selected} />}
      {tab.value === 'Prompts' && <OffersPanel state={state} />}
      {tab.value === 'Versions' && <VersionsPanel state={state} />}
      {tab.value === 'Test' && <TestPanel state={state} selected={selected} />}
      {tab.value === 'Document' && <DocumentText document={state.document} read={asToolsetDraft} />}
    </TabPanel>
  );
}

function DefinitionPanel({ state, selected }: PanelProps) {
  const report = state.report.value;
  const tool = report?.tools.find(({ entry }) => entry === `tools[${selected}]`);
  return (
    <>
      <p class="filters">
        <label>
          Provider <Select {...boundChoice(state.provider)} choices={asWritten(Object.keys(recipients))} />
        </label>
        {report && <strong>{report.tokens} tokens in all</strong>}
      </p>
      {report && (
        <TokenBar tokens={report.tools.map(({ tokens }) => tokens)} selected={tool === undefined ? -1 : report.tools.indexOf(tool)} />
      )}
      {tool === undefined ? (
        <p class="muted">Nothing is sent for this entry. If it has a fault, the table shows it.</p>
      ) : (
        <>
          <h2>
            {visible(tool.wireName)} <span class="muted">{tool.tokens} tokens</span>
          </h2>
          {tool.left !== undefined && <p class="muted">Not sent: {visible(tool.left)}</p>}
          <PathMessages class="changes" items={tool.changes} />
          {tool.definition !== null && (
            <CodeBlock text={JSON.stringify(tool.definition, null, 2)} language="json" label={`Definition for ${state.provider.value}`} />
          )}
        </>
      )}
      {report && report.warnings.length > 0 && (
        <details>
          <summary>{report.warnings.length} warnings</summary>
          <PathMessages class="changes" items={report.warnings} />
        </details>
      )}
    </>
  );
}

/** The share of each tool in the tokens. */
function TokenBar({ tokens, selected }: { tokens: readonly number[]; selected: number }) {
  return (
    <span class="token-bar" aria-hidden="true">
      {tokens.map((count, index) => (
        <i key={index} class={index === selected ? 'selected' : ''} style={{ flexGrow: String(count) }} />
      ))}
    </span>
  );
}
