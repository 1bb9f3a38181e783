export { aiSdk as agUi } from '../ai-sdk/dialect.ts';
