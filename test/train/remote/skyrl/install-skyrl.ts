import { installSkyRl } from './installed-skyrl.ts';

// node with-node.mjs node test/train/remote/skyrl/install-skyrl.ts: what the tests of a training over SkyRL need, a gigabyte of Python.
try {
  const { version, folder } = await installSkyRl();
  console.log(`SkyRL ${version} is in ${folder}.`);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
