<?php
// FOSSBilling server manager for Berth. The order waits for its setup: the client chooses system and access in the panel,
// because FOSSBilling makes up a password before the order and Berth takes none. See README.md.

declare(strict_types=1);

// Not beside this file: FOSSBilling takes every PHP file below Server/Manager for a manager.
require_once dirname(__DIR__, 2) . '/Berth/BerthClient.php';

class Server_Manager_Berth extends Server_Manager
{
    /** Where FOSSBilling keeps the installation among its settings. */
    private const INSTALLATION = 'berth_installation';

    public static function getForm(): array
    {
        $field = fn (string $name, string $label, string $placeholder, bool $required) => [
            'name' => $name, 'type' => 'text', 'label' => $label, 'placeholder' => $placeholder, 'required' => $required,
        ];
        $kept = self::kept($GLOBALS['di'] ?? null);
        $about = "Leave it empty: it is $kept. After a move its 8 characters, in a copy any other 8";
        return [
            'label' => 'Berth',
            'form' => [
                'credentials' => [
                    'fields' => [
                        $field('accesshash', 'API token', 'A token with the preset for billing, pnl_…', true),
                        $field('username', 'Installation', $kept === '' ? 'Leave it empty' : $about, false),
                    ],
                ],
            ],
        ];
    }

    /** FOSSBilling shows it; it forgets it when an order fails, so nothing depends on it. */
    public function generateUsername(string $domain): string
    {
        return 'root';
    }

    public function getLoginUrl(?Server_Account $account): string
    {
        if ($account === null) {
            return $this->address();
        }
        return $this->words(fn () => $this->client()->signInLink($this->client()->ownServerId($this->serviceOf($account))));
    }

    public function getResellerLoginUrl(?Server_Account $account): string
    {
        return $this->getLoginUrl($account);
    }

    public function testConnection(): bool
    {
        return $this->words(function () {
            $missing = $this->client()->connection()['missingScopes'] ?? [];
            if ($missing !== []) {
                throw new Server_Exception('Berth: the token lacks ' . implode(', ', $missing) . '.');
            }
            return true;
        });
    }

    public function createAccount(Server_Account $account): bool
    {
        return $this->done($account, function (BerthService $service) use ($account) {
            $made = $this->client()->createOnce($service, [
                'packageId' => $this->value($account->getPackage(), 'berth_package'),
                'nodeGroupId' => $this->value($account->getPackage(), 'berth_location'),
            ]);
            $this->address = $made['server']['ipv4'] ?? $made['server']['ipv6'] ?? null;
        });
    }

    /**
     * FOSSBilling stores its record of the service after an order, with the address of the panel. It lets go of the manager
     * right after that and before the mail to the client, which is the moment to store the address of the server.
     */
    public function __destruct()
    {
        $db = $this->getLog()?->getDi()['db'] ?? null;
        if ($this->address === null || $this->hosting === null || $db === null) {
            return;
        }
        try {
            $hosting = $db->load('ServiceHosting', $this->hosting);
            if ($hosting && $hosting->ip !== $this->address) {
                $hosting->ip = $this->address;
                $db->store($hosting);
            }
        } catch (Throwable $error) {
            error_log("Berth: the address of the server was not stored: {$error->getMessage()}");
        }
    }

    public function synchronizeAccount(Server_Account $account): Server_Account
    {
        return $this->words(function () use ($account) {
            $server = $this->client()->ownServer($this->serviceOf($account))
                ?? throw new Server_Exception('This service has no server in Berth. Activate the order first.');
            $synchronized = clone $account;
            $address = $server['ipv4'] ?? $server['ipv6'] ?? null;
            return $synchronized->setIp($address)->setSuspended(($server['status'] ?? '') === 'suspended');
        });
    }

    public function suspendAccount(Server_Account $account): bool
    {
        $reason = trim($account->getNote() ?? '');
        return $this->done($account, fn (BerthService $service) =>
            $this->client()->suspend($this->client()->serverId($service), $reason));
    }

    public function unsuspendAccount(Server_Account $account): bool
    {
        return $this->done($account, fn (BerthService $service) =>
            $this->client()->unsuspend($this->client()->serverId($service)));
    }

    /** A service whose server is gone already counts as cancelled. */
    public function cancelAccount(Server_Account $account): bool
    {
        return $this->done($account, fn (BerthService $service) => $this->client()->terminateOnce($service));
    }

    public function changeAccountPackage(Server_Account $account, Server_Package $package): bool
    {
        return $this->done($account, fn (BerthService $service) => $this->client()->changePackage(
            $this->client()->serverId($service),
            $this->value($package, 'berth_package'),
        ));
    }

    public function changeAccountPassword(Server_Account $account, string $newPassword): bool
    {
        throw new Server_Exception('Berth sets no password from outside: reinstall the server in the panel, or change it inside.');
    }

    public function changeAccountUsername(Server_Account $account, string $newUsername): bool
    {
        throw new Server_Exception('Berth has no user names for services: the users of a server are made inside it.');
    }

    public function changeAccountDomain(Server_Account $account, string $newDomain): bool
    {
        throw new Server_Exception('The hostname of a server is changed in the panel, by a reinstallation.');
    }

    public function changeAccountIp(Server_Account $account, string $newIp): bool
    {
        throw new Server_Exception('Berth gives the addresses, so that none is used twice.');
    }

    private function client(): BerthClient
    {
        return $this->berth ??= new BerthClient($this->address(), trim((string) $this->_config['accesshash']));
    }
    private ?BerthClient $berth = null;
    /** The record of the service in FOSSBilling, and the address of its server that is to be stored there. */
    private ?int $hosting = null;
    private ?string $address = null;

    private function address(): string
    {
        $port = (string) ($this->_config['port'] ?? '');
        return ($this->_config['secure'] ? 'https://' : 'http://') . $this->_config['host'] . ($port === '' ? '' : ":$port");
    }

    /**
     * The service behind an account. FOSSBilling hands a manager neither the order nor the client (an e-mail and a domain
     * are no identity: both are used again), but a log that puts the order's id into each of its lines.
     */
    private function serviceOf(Server_Account $account): BerthService
    {
        $log = $this->getLog();
        $di = $log->getDi();
        $reader = new class () {
            public ?int $orderId = null;

            public function write(array $event, string $channel = 'application'): void
            {
                $this->orderId = isset($event['client_order_id']) ? (int) $event['client_order_id'] : null;
            }
        };
        $log->addWriter($reader);
        $log->info('Berth is called for the service ' . $account->getDomain());
        $order = $di === null || $reader->orderId === null ? null : $di['db']->load('ClientOrder', $reader->orderId);
        $hosting = $order && $order->service_id ? $di['db']->load('ServiceHosting', (int) $order->service_id) : null;
        // The log is one for all orders of a run: a line of another order must not be taken for this one's.
        if (!$hosting || $hosting->sld . $hosting->tld !== $account->getDomain()) {
            throw new Server_Exception('Berth: this service has no order in FOSSBilling, and so no server in Berth.');
        }
        $this->hosting = (int) $hosting->id;
        $given = trim((string) ($this->_config['username'] ?? ''));
        $isGiven = preg_match('/^[a-z0-9]{8}$/D', $given) === 1;
        $client = $account->getClient();
        $username = (string) $account->getUsername();
        return new BerthService(
            'fossbilling',
            BerthService::installationOf($isGiven ? $given : self::kept($di), $isGiven ? '' : self::host()),
            (string) $order->id,
            (string) $hosting->client_id,
            (string) $client->getFullName(),
            (string) $client->getEmail(),
            (string) $client->getCompany(),
            // Earlier modules made up such user names and called the server so.
            preg_match('/^b[0-9a-f]{14}$/D', $username) === 1 ? "fossbilling:$username" : null,
            'fossbilling:' . $client->getEmail(),
        );
    }

    /** The installation as FOSSBilling keeps it, made once; empty without FOSSBilling. */
    private static function kept(mixed $di): string
    {
        if ($di === null) {
            return '';
        }
        $settings = $di['mod_service']('system');
        $kept = (string) $settings->getParamValue(self::INSTALLATION, '');
        if ($kept === '') {
            // Not by setParamValue(), which overwrites what another run stored at the same moment.
            $di['db']->exec(
                'INSERT IGNORE INTO setting (param, value, created_at, updated_at) VALUES (?, ?, NOW(), NOW())',
                [self::INSTALLATION, BerthService::newInstallation(self::host())],
            );
            $kept = (string) $settings->getParamValue(self::INSTALLATION, '');
        }
        return $kept;
    }

    private static function host(): string
    {
        return defined('SYSTEM_URL') ? (string) parse_url((string) SYSTEM_URL, PHP_URL_HOST) : '';
    }

    private function value(Server_Package $package, string $name): string
    {
        $value = trim((string) $package->getCustomValue($name));
        return $value !== '' ? $value : throw new Server_Exception("The hosting plan lacks the custom value $name.");
    }

    /** Works on the service; what changed of its client goes to Berth, too. */
    private function done(Server_Account $account, callable $work): bool
    {
        $this->words(function () use ($account, $work) {
            $service = $this->serviceOf($account);
            $work($service);
            $this->client()->knownCustomer($service);
        });
        return true;
    }

    private function words(callable $work): mixed
    {
        try {
            return $work();
        } catch (BerthError $error) {
            throw new Server_Exception($error->words());
        }
    }
}
