/** All configuration tools (contract §10). They are built-in tools, and a toolset has them only if it lists them. Used by `registry.ts`. */
import type { DefinedTool } from '../define-tool.ts';
import { buildToolsetTool } from './build-toolset.ts';
import { deleteToolsetTool } from './delete-toolset.ts';
import { equipToolset } from './equip-toolset.ts';
import { getActiveToolset } from './get-active-toolset.ts';
import { listAvailableTools } from './list-available-tools.ts';
import { listSavedToolsets } from './list-saved-toolsets.ts';
import { enterConfigurationMode, exitConfigurationMode } from './mode-tools.ts';
import { renameToolsetTool } from './rename-toolset.ts';
import { addToolAnnotation, removeToolAnnotation } from './tool-annotations.ts';
import { unequipToolset } from './unequip-toolset.ts';
import { updateToolset } from './update-toolset.ts';

export const configurationToolset: readonly DefinedTool[] = [
  listAvailableTools,
  buildToolsetTool,
  listSavedToolsets,
  equipToolset,
  unequipToolset,
  getActiveToolset,
  deleteToolsetTool,
  addToolAnnotation,
  enterConfigurationMode,
  exitConfigurationMode,
  updateToolset,
  renameToolsetTool,
  removeToolAnnotation,
];
