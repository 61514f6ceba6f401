<?php
// WHMCS provisioning module for Berth. The server in WHMCS has the panel's hostname, the API token as its access hash and
// the signing secret of the webhook as its password. See README.md.

if (!defined('WHMCS')) {
    die('This file cannot be accessed directly');
}

require_once __DIR__ . '/BerthClient.php';

use WHMCS\Database\Capsule;

/** Where WHMCS keeps the id of the server of a service. */
const BERTH_SERVER = 'Berth server';
const BERTH_ORDERS = 'Berth orders';

function berth_MetaData(): array
{
    return [
        'DisplayName' => 'Berth',
        'APIVersion' => '1.1',
        'RequiresServer' => true,
        'DefaultNonSSLPort' => '8080',
        'DefaultSSLPort' => '443',
        'ServiceSingleSignOnLabel' => 'Open the panel',
        'ListAccountsUniqueIdentifierDisplayName' => 'Server',
        'ListAccountsUniqueIdentifierField' => 'customfield.' . BERTH_SERVER,
        'ListAccountsProductField' => 'configoption1',
    ];
}

function berth_ConfigOptions(): array
{
    $field = fn (string $loader, string $about) => [
        'Type' => 'text', 'Size' => '40', 'Loader' => $loader, 'SimpleMode' => true, 'Description' => $about,
    ];
    return [
        'Package' => $field('berth_LoadPackages', 'Processors, memory and disk.'),
        'Location' => $field('berth_LoadLocations', 'Where the server stands.'),
        'Image' => $field('berth_LoadImages', 'The system that is installed; the client chooses it later when there is none.'),
    ];
}

function berth_LoadPackages(array $params): array
{
    return array_column(berth_client($params)->offer()[0], 'name', 'id');
}

function berth_LoadLocations(array $params): array
{
    return array_column(berth_client($params)->offer()[1], 'name', 'id');
}

function berth_LoadImages(array $params): array
{
    $images = iterator_to_array(berth_client($params)->all('/images?limit=200'), false);
    return ['none' => 'None: the client chooses it'] + array_column($images, 'name', 'id');
}

function berth_TestConnection(array $params): array
{
    try {
        $connection = berth_client($params)->connection();
        $missing = $connection['missingScopes'];
        return $missing === []
            ? ['success' => true, 'error' => '']
            : ['success' => false, 'error' => 'Berth: the token lacks ' . implode(', ', $missing) . '.'];
    } catch (BerthError $error) {
        return ['success' => false, 'error' => $error->words()];
    }
}

function berth_CreateAccount(array $params): string
{
    return berth_try(function () use ($params) {
        $client = berth_client($params);
        $properties = $params['model']->serviceProperties;
        $image = berth_chosen($params, 'Image', 3, fn () => berth_LoadImages($params));
        $order = [
            'ownerId' => berth_owner($client, $params),
            'packageId' => berth_chosen($params, 'Package', 1, fn () => berth_LoadPackages($params)),
            'nodeGroupId' => berth_chosen($params, 'Location', 2, fn () => berth_LoadLocations($params)),
            'billingServiceId' => "whmcs:{$params['serviceid']}",
        ];
        if ($image !== '' && $image !== 'none') {
            $order += ['imageId' => $image, 'hostname' => berth_hostname($params), 'access' => ['mode' => 'password']];
        }
        $orders = (int) $properties->get(BERTH_ORDERS);
        $made = $client->order($order, (string) $orders);
        $saved = [BERTH_SERVER => $made['serverId'], 'Dedicated IP' => $made['ipv4'] ?? '', 'Username' => $made['user'] ?? 'root'];
        if ($made['rootPassword'] !== null) {
            $saved['Password'] = $made['rootPassword'];
        }
        $properties->save($saved);
    });
}

function berth_SuspendAccount(array $params): string
{
    return berth_try(fn () => berth_client($params)->suspend(berth_server($params), (string) ($params['suspendreason'] ?? '')));
}

function berth_UnsuspendAccount(array $params): string
{
    return berth_try(fn () => berth_client($params)->unsuspend(berth_server($params)));
}

function berth_TerminateAccount(array $params): string
{
    return berth_try(function () use ($params) {
        berth_client($params)->terminate(berth_server($params));
        $properties = $params['model']->serviceProperties;
        // The next order of this service is another one.
        $properties->save([BERTH_SERVER => '', BERTH_ORDERS => (string) ((int) $properties->get(BERTH_ORDERS) + 1)]);
    });
}

function berth_ChangePackage(array $params): string
{
    return berth_try(fn () => berth_client($params)->changePackage(
        berth_server($params),
        berth_chosen($params, 'Package', 1, fn () => berth_LoadPackages($params)),
    ));
}

function berth_ServiceSingleSignOn(array $params): array
{
    try {
        return ['success' => true, 'redirectTo' => berth_client($params)->signInLink(berth_server($params))];
    } catch (BerthError $error) {
        return ['success' => false, 'errorMsg' => $error->words()];
    }
}

function berth_AdminCustomButtonArray(): array
{
    return ['Start' => 'Start', 'Shut down' => 'ShutDown', 'Restart' => 'Restart', 'Reset root password' => 'ResetPassword'];
}

function berth_ClientAreaCustomButtonArray(): array
{
    return berth_AdminCustomButtonArray();
}

function berth_Start(array $params): string
{
    return berth_try(fn () => berth_client($params)->power(berth_server($params), 'start'));
}

function berth_ShutDown(array $params): string
{
    return berth_try(fn () => berth_client($params)->power(berth_server($params), 'shutdown'));
}

function berth_Restart(array $params): string
{
    return berth_try(fn () => berth_client($params)->power(berth_server($params), 'restart'));
}

/** Berth makes the password, so this is a button and not WHMCS's own change of a password that somebody types. */
function berth_ResetPassword(array $params): string
{
    return berth_try(function () use ($params) {
        $made = berth_client($params)->resetPassword(berth_server($params));
        $params['model']->serviceProperties->save(['Username' => $made['user'], 'Password' => $made['rootPassword']]);
    });
}

function berth_AdminServicesTabFields(array $params): array
{
    try {
        $server = berth_client($params)->call('GET', '/servers/' . berth_server($params));
    } catch (BerthError $error) {
        return ['Berth' => htmlspecialchars($error->words())];
    }
    $fields = [
        'Server' => $server['id'],
        'State' => $server['status'],
        'Package' => "{$server['package']['name']} ({$server['vcpus']} vCPU, {$server['memoryMb']} MB, {$server['diskGb']} GB)",
        'Location' => $server['location']['name'],
        'Addresses' => implode(', ', array_column($server['addresses'], 'address')),
    ];
    return array_map('htmlspecialchars', $fields);
}

function berth_ClientArea(array $params): array
{
    try {
        $server = berth_client($params)->call('GET', '/servers/' . berth_server($params));
        return ['templatefile' => 'templates/overview', 'vars' => ['server' => $server, 'problem' => '']];
    } catch (BerthError $error) {
        $problem = 'The server cannot be shown now. Try again in a moment.';
        return ['templatefile' => 'templates/overview', 'vars' => ['server' => null, 'problem' => $problem]];
    }
}

/** The traffic of this month and the disks of all services on this server, in MB. */
function berth_UsageUpdate(array $params): string
{
    return berth_try(function () use ($params) {
        $client = berth_client($params);
        $usage = $client->usage();
        foreach ($client->servers() as $server) {
            if (!preg_match('/^whmcs:(\d+)$/', (string) $server['billingServiceId'], $found)) {
                continue;
            }
            $traffic = $usage[$server['id']]['traffic'] ?? null;
            Capsule::table('tblhosting')->where('id', (int) $found[1])->where('server', $params['serverid'])->update([
                'disklimit' => $server['diskGb'] * 1024,
                'bwlimit' => ($server['trafficGb'] ?? 0) * 1000,
                // What could not be measured stays as it was: 0 would be an answer.
                ...($traffic === null ? [] : ['bwusage' => (int) round(($traffic['inBytes'] + $traffic['outBytes']) / 1e6)]),
                'lastupdate' => gmdate('Y-m-d H:i:s'),
            ]);
        }
    });
}

/** For WHMCS's tool that compares its services with the servers in Berth. */
function berth_ListAccounts(array $params): array
{
    try {
        $accounts = [];
        foreach (berth_client($params)->servers() as $server) {
            $accounts[] = [
                'email' => $server['owner']['email'],
                'username' => $server['hostname'],
                'domain' => $server['hostname'],
                'uniqueIdentifier' => $server['id'],
                'product' => $server['package']['id'],
                'primaryip' => $server['ipv4'],
                'created' => gmdate('Y-m-d H:i:s', strtotime($server['createdAt'])),
                'status' => $server['status'] === 'suspended' ? 'Suspended' : 'Active',
            ];
        }
        return ['success' => true, 'accounts' => $accounts];
    } catch (BerthError $error) {
        return ['success' => false, 'error' => $error->words()];
    }
}

// ---------------------------------------------------------------- helpers
function berth_client(array $params): BerthClient
{
    $port = (string) ($params['serverport'] ?? '');
    $secure = !empty($params['serversecure']);
    $address = ($secure ? 'https://' : 'http://') . $params['serverhostname'];
    if ($port !== '' && $port !== ($secure ? '443' : '80')) {
        $address .= ":$port";
    }
    $token = trim((string) $params['serveraccesshash']);
    $log = fn (string $method, string $path, mixed $sent, mixed $answer) =>
        logModuleCall('berth', "$method $path", $sent, $answer, $answer, [$token]);
    return new BerthClient($address, $token, $log);
}

/** WHMCS shows what is answered: `success`, or the reason in words. */
function berth_try(callable $work): string
{
    try {
        $work();
        return 'success';
    } catch (BerthError $error) {
        return $error->words();
    }
}

/** The id of the service's server, also of one whose order lost its answer. */
function berth_server(array $params): string
{
    $known = (string) $params['model']->serviceProperties->get(BERTH_SERVER);
    if ($known !== '') {
        return $known;
    }
    $found = berth_client($params)->serverOf("whmcs:{$params['serviceid']}");
    if ($found === null) {
        throw new BerthError('server_not_found', 'This service has no server in Berth. Run Create first.');
    }
    $params['model']->serviceProperties->save([BERTH_SERVER => $found['id']]);
    return $found['id'];
}

function berth_owner(BerthClient $client, array $params): string
{
    $details = $params['clientsdetails'];
    $name = trim("{$details['firstname']} {$details['lastname']}");
    return $client->customer(
        "whmcs:{$params['userid']}",
        $name === '' ? $details['email'] : $name,
        $details['email'],
        trim((string) ($details['companyname'] ?? '')),
    );
}

/** A configurable option that the client chose, by its id or its name; otherwise the setting of the product. */
function berth_chosen(array $params, string $option, int $setting, callable $load): string
{
    $value = trim((string) ($params['configoptions'][$option] ?? ''));
    if ($value === '') {
        return trim((string) ($params["configoption$setting"] ?? ''));
    }
    if (preg_match('/^(pkg|grp|img)_/', $value) || $value === 'none') {
        return $value;
    }
    $id = array_search($value, $load(), true);
    if ($id === false) {
        throw new BerthError('validation_failed', "Berth has nothing that is called “{$value}” for the option $option.");
    }
    return (string) $id;
}

function berth_hostname(array $params): string
{
    $wanted = strtolower(trim((string) ($params['domain'] ?? '')));
    $label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
    return preg_match("/^$label(\\.$label)*$/", $wanted) && strlen($wanted) <= 253 ? $wanted : "server{$params['serviceid']}";
}
