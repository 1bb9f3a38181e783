/**
 * What a key made at providers: files and batches, by the ids of the provider. Several keys share the account of a provider, so its own lists do
 * not tell whose they are.
 */

export type ProviderItem = { kind: 'file' | 'batch' | 'message-batch'; provider: string; id: string };

/**
 * `batch`: whose results the file has, and whose use is not known before the file is read. `model`: the only one that the batch asks for.
 * `expiresAt`: milliseconds; absent: a year from now. `state`: only what is given changes.
 */
export type NotedItem = ProviderItem & {
  purpose?: string | undefined;
  batch?: string | undefined;
  model?: string | undefined;
  expiresAt?: number | undefined;
  state?: 'counted' | 'deleted' | undefined;
};

/** `isCounted`: what the batch, or that of the file, used is in the usage. */
export type ItemState = { isCounted: boolean; batch: string | null; model: string | null };

/** `desc`: newest first. `after`: continues after this item in that order. */
export type ProviderItemQuery = {
  kind: ProviderItem['kind'];
  providers: readonly string[];
  purpose?: string | undefined;
  order: 'asc' | 'desc';
  limit: number;
  after?: Pick<ProviderItem, 'provider' | 'id'> | undefined;
};
