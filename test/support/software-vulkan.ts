import { existsSync } from 'node:fs';

/*
 * SwiftShader, a Vulkan driver that computes on the CPU. Debian's package `chromium-common`, which each of its Chromiums needs, has it, and `libvulkan1` the loader.
 */

const DRIVER = '/usr/lib/chromium/vk_swiftshader_icd.json';
const LOADERS = ['/usr/lib/x86_64-linux-gnu/libvulkan.so.1', '/lib/x86_64-linux-gnu/libvulkan.so.1'];

/** Why WebGPU cannot be tried on this machine; undefined where it can. */
export const whyNoSoftwareVulkan: string | undefined =
  process.platform !== 'linux' || process.arch !== 'x64' ? 'SwiftShader is looked for on Linux x64 only'
    : !LOADERS.some(existsSync) ? 'there is no Vulkan loader (apt-get install libvulkan1)'
      : !existsSync(DRIVER) ? 'there is no SwiftShader (apt-get install chromium-common)'
        : undefined;

/** For the environment of a process, before its first session: the Vulkan loader then sees SwiftShader alone. */
export const SOFTWARE_VULKAN = { VK_ICD_FILENAMES: DRIVER } as const;

export function useSoftwareVulkan(): void {
  Object.assign(process.env, SOFTWARE_VULKAN);
}
