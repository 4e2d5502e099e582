/* pool.js -- the workers that draw. A group of several images stays with one worker, which decodes it once; other
 * images go to any worker that is free. Workers are made when they are needed; one that ended is replaced. */
export class Pool {
    /** make(): a client. size: workers at most. */
    constructor(make, size) {
        Object.assign(this, { make, size });
        this.clients = [];
        this.tasks = [];
        this.homes = new Map(); // key -> client
    }

    /** A worker before it is needed. */
    warm() {
        this.clients = this.clients.filter((client) => !client.ended);
        if (!this.clients.length) this.clients.push(this.make());
        return this.clients[0];
    }

    /** Runs use(client) when a worker is free. key: tasks of one key go to one worker; null: to any. */
    run(key, use, signal) {
        return new Promise((done, failed) => {
            const task = { key, use, done, failed, signal };
            this.tasks.push(task);
            this.next();
        });
    }

    free() {
        this.clients = this.clients.filter((client) => !client.ended);
        const idle = this.clients.filter((client) => !client.busy);
        if (idle.length || this.clients.length >= this.size) return idle;
        const client = this.make();
        this.clients.push(client);
        return [client];
    }

    next() {
        for (let k = 0; k < this.tasks.length;) {
            const task = this.tasks[k];
            if (task.signal?.aborted) {
                this.tasks.splice(k, 1);
                task.failed(task.signal.reason);
                continue;
            }
            const home = this.homes.get(task.key), settled = home && !home.ended;
            const client = settled ? (home.busy ? null : home) : this.free()[0];
            if (!client) {
                k++;
                continue;
            }
            this.tasks.splice(k, 1);
            if (task.key !== null) this.homes.set(task.key, client);
            this.start(client, task);
        }
    }

    async start(client, { use, done, failed }) {
        client.busy++;
        try {
            done(await use(client));
        } catch (error) {
            failed(error);
        } finally {
            client.busy--;
            this.next();
        }
    }

    close(error) {
        for (const client of this.clients) client.end(error);
        for (const { failed } of this.tasks.splice(0)) failed(error);
    }
}
