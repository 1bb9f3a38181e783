/**
 * The member `models` of `GET /v1/models?client_version=…`, as Codex asks for it where its provider has a command for its key, or with a
 * ChatGPT account. Wire: `ModelInfo` in openai/codex, `codex-rs/protocol/src/openai_models.rs`, of November 2026; values that the gateway
 * does not know are those that Codex uses for an unknown model (`model_info_from_slug` in `codex-rs/models-manager/src/model_info.rs`).
 * Versions that require `base_instructions` do not read the list, as without it: the prompt of Codex is not ours to write.
 */
type Listed = {
  id: string;
  display_name: string;
  architecture?: { input_modalities: string[] } | undefined;
  max_input_tokens?: number | undefined;
};

/** Only models whose context window is known: Codex has its own values for all others. */
export function codexModels(models: readonly Listed[]) {
  return models.flatMap(({ id, display_name: name, architecture, max_input_tokens: window }) => {
    if (window === undefined) return [];
    const modalities = architecture?.input_modalities.filter((one) => one === 'text' || one === 'image');
    return [
      {
        ...{ slug: id, display_name: name, description: null, supported_reasoning_levels: [] },
        ...{ shell_type: 'default', visibility: 'list', supported_in_api: true, priority: 99, upgrade: null, availability_nux: null },
        ...{ supports_reasoning_summaries: false, support_verbosity: false, default_verbosity: null, apply_patch_tool_type: null },
        ...{ truncation_policy: { mode: 'bytes', limit: 10_000 }, supports_parallel_tool_calls: false },
        ...{ context_window: window, max_context_window: window, experimental_supported_tools: [] },
        ...(modalities !== undefined && { input_modalities: modalities }),
      },
    ];
  });
}
