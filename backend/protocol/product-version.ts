import manifest from '../../package.json' with { type: 'json' };

/** Version of the product, such as 0.1.0. The protocol has its own version. */
export const VERSION: string = manifest.version;
